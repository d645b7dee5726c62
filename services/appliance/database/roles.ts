import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import type pg from 'pg'
import { serviceLogins, SQL_READER } from '../render/index.ts'
import type { Secrets } from '../render/index.ts'

/** Settings of the sessions of SQL_READER: a person's query must not slow down the filler and the api for long. */
const sqlReaderSettings = {
  default_transaction_read_only: 'on',
  statement_timeout: '60s',
  idle_in_transaction_session_timeout: '60s',
  max_parallel_workers_per_gather: '0',
} as const
const SQL_READER_CONNECTIONS = 5
const PASSWORD_BYTES = 24

/** Time limit of a statement that Hasura runs for a GraphQL client. */
const GRAPHQL_TIMEOUT = '10s'
/** Schemas with chain data; the role of the api can read all of them. */
const publicSchemas = ['chain', 'assets', 'market', 'oracle', 'tools', 'state', 'lists']
/** Schema of the views that GraphQL shows. The views read the tables with the rights of their owner. */
const GRAPHQL_SCHEMA = 'graphql'
/**
 * Schema with functions that indexes use. The role of GraphQL needs USAGE of the schema, because the planner of
 * PostgreSQL calls these functions. The role cannot read the tables of the schema.
 */
const GRAPHQL_FUNCTIONS = 'market'
/** Schemas that the role of GraphQL could read in versions of Pronghorn without the views for GraphQL. */
const graphqlFormerSchemas = ['chain', 'assets', 'market', 'oracle', 'tools']
/** Schema with API keys and signing keys, for the state service only. */
const ACCESS_SCHEMA = 'access'

/**
 * Creates the roles, and sets the passwords of existing roles. PostgreSQL gets SCRAM verifiers instead of passwords,
 * so its log contains no password. `admin` must be a superuser, or a role that may create roles.
 */
export async function ensureRoles(admin: pg.ClientBase, secrets: Secrets): Promise<void> {
  const { rows } = await admin.query<{ rolname: string }>('SELECT rolname FROM pg_roles')
  const present = new Set(rows.map(({ rolname }) => rolname))
  for (const { role, secret } of serviceLogins) {
    if (!present.has(role)) await admin.query(`CREATE ROLE ${role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE`)
    await admin.query(`ALTER ROLE ${role} PASSWORD '${scramVerifier(secrets[secret])}'`)
  }
  await admin.query(`ALTER ROLE pronghorn_graphql SET statement_timeout = '${GRAPHQL_TIMEOUT}'`)
  await admin.query('ALTER ROLE pronghorn_graphql SET default_transaction_read_only = on')
  await admin.query('ALTER ROLE pronghorn_graphql SET max_parallel_workers_per_gather = 0')
  await admin.query('ALTER ROLE pronghorn_graphql SET jit = off')
  await admin.query('ALTER ROLE pronghorn_api SET default_transaction_read_only = on')
}

/**
 * Creates the role that reads the views over SQL, or changes the password of the role. `grantRights` grants the rights
 * of the role.
 * @returns the password, of which only a verifier is stored.
 */
export async function ensureSqlReader(admin: pg.ClientBase, database: string): Promise<string> {
  const password = randomBytes(PASSWORD_BYTES).toString('base64url')
  if (!(await hasRole(admin, SQL_READER)))
    await admin.query(`CREATE ROLE ${SQL_READER} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE`)
  await admin.query(
    `ALTER ROLE ${SQL_READER} CONNECTION LIMIT ${SQL_READER_CONNECTIONS} PASSWORD '${scramVerifier(password)}'`,
  )
  for (const [name, value] of Object.entries(sqlReaderSettings))
    await admin.query(`ALTER ROLE ${SQL_READER} SET ${name} = '${value}'`)
  await admin.query(`GRANT CONNECT ON DATABASE ${quote(database)} TO ${SQL_READER}`)
  return password
}

async function hasRole(client: pg.ClientBase, role: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role])
  return rowCount !== 0
}

/** Creates a database with this owner if the database does not exist. By default no other role may connect to it. */
export async function ensureDatabase(admin: pg.ClientBase, name: string, owner: string): Promise<boolean> {
  const { rowCount } = await admin.query('SELECT FROM pg_database WHERE datname = $1', [name])
  if (rowCount !== 0) return false
  await admin.query(`CREATE DATABASE ${quote(name)} OWNER ${owner}`)
  await admin.query(`REVOKE ALL ON DATABASE ${quote(name)} FROM PUBLIC`)
  return true
}

/** Allows the services to connect to the database. Run by a superuser, before the migrations. */
export async function allowConnections(admin: pg.ClientBase, database: string): Promise<void> {
  const roles = 'pronghorn_filler, pronghorn_api, pronghorn_state, pronghorn_graphql'
  await admin.query(`GRANT CONNECT ON DATABASE ${quote(database)} TO ${roles}`)
  await admin.query(`GRANT TEMPORARY ON DATABASE ${quote(database)} TO pronghorn_filler`)
}

/** Grants each role its rights on the objects of the migrations. Run by their owner, the filler's role. */
export async function grantRights(owner: pg.ClientBase): Promise<void> {
  const { rows } = await owner.query<{ nspname: string }>('SELECT nspname FROM pg_namespace')
  const present = rows.map(({ nspname }) => nspname)
  for (const schema of publicSchemas.filter((each) => present.includes(each))) {
    await grantReading(owner, schema, 'pronghorn_api')
    await grantReading(owner, schema, 'pronghorn_state')
  }
  await grantGraphql(owner, present)
  if (await hasRole(owner, SQL_READER)) await grantViews(owner, present, SQL_READER)
  for (const role of ['pronghorn_api', 'pronghorn_state']) {
    await owner.query(`GRANT SELECT ON public.pronghorn_migrations TO ${role}`)
  }
  if (!present.includes(ACCESS_SCHEMA)) return
  await owner.query(`GRANT USAGE ON SCHEMA ${ACCESS_SCHEMA} TO pronghorn_state`)
  await owner.query(
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${ACCESS_SCHEMA} TO pronghorn_state`,
  )
  await owner.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${ACCESS_SCHEMA} TO pronghorn_state`)
}

async function grantGraphql(owner: pg.ClientBase, present: readonly string[]): Promise<void> {
  const role = 'pronghorn_graphql'
  for (const schema of graphqlFormerSchemas.filter((each) => present.includes(each))) {
    await owner.query(`REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM ${role}`)
    await owner.query(`ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} REVOKE SELECT ON TABLES FROM ${role}`)
    await owner.query(`REVOKE ALL ON SCHEMA ${schema} FROM ${role}`)
  }
  await grantViews(owner, present, role)
}

/** Lets a role read the views, and execute the functions that the views call with the rights of this role. */
async function grantViews(owner: pg.ClientBase, present: readonly string[], role: string): Promise<void> {
  if (present.includes(GRAPHQL_FUNCTIONS))
    await owner.query(`GRANT USAGE ON SCHEMA ${GRAPHQL_FUNCTIONS} TO ${role}`)
  if (present.includes(GRAPHQL_SCHEMA)) await grantReading(owner, GRAPHQL_SCHEMA, role)
}

async function grantReading(owner: pg.ClientBase, schema: string, role: string): Promise<void> {
  await owner.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
  await owner.query(`GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${role}`)
  // Default privileges cover later tables: the owner creates new partitions as the chain grows.
  await owner.query(`ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT ON TABLES TO ${role}`)
}

const ITERATIONS = 4_096
const SALT_BYTES = 16
const KEY_BYTES = 32

/** The SCRAM-SHA-256 verifier of a password (RFC 5803), as PostgreSQL stores it. */
export function scramVerifier(password: string, salt: Buffer = randomBytes(SALT_BYTES)): string {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, KEY_BYTES, 'sha256')
  const clientKey = createHmac('sha256', salted).update('Client Key').digest()
  const storedKey = createHash('sha256').update(clientKey).digest('base64')
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
