import {
  checkDatabaseChain,
  connectDatabase,
  databaseFailure,
  migrate,
  refusePooledTransactions,
} from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { retry } from '../../core/retry/index.ts'
import { SQL_READER } from '../render/index.ts'
import type { Secrets } from '../render/index.ts'
import { allowConnections, ensureDatabase, ensureRoles, ensureSqlReader, grantRights } from './roles.ts'

export interface PrepareOptions {
  /** Login of the superuser to the PostgreSQL server, and the name of the database for the chain. */
  readonly address: DatabaseAddress
  readonly chainId: string
  readonly secrets: Secrets
  /** How long PostgreSQL may take until it accepts connections. */
  readonly waitMs: number
  /** Creates only roles and databases, without the schema: `restore` creates the schema afterwards. */
  readonly withoutSchema: boolean
  readonly say: (text: string) => void
}

/** Database in which Hasura stores its metadata. */
const HASURA_DATABASE = 'pronghorn_hasura'
const OWNER = 'pronghorn_filler'
const RETRY_MS = 500

/**
 * Prepares a PostgreSQL server: roles with their current passwords, databases, the newest schema, rights. Running it
 * again is harmless at any time.
 *
 * @throws see `databaseFailure`; FatalError `CHAIN_MISMATCH`, and the errors of the migrations.
 */
export async function prepareDatabase(options: PrepareOptions): Promise<void> {
  const { address, secrets, say } = options
  const admin = await connectAdmin({ ...address, database: 'postgres' }, options.waitMs)
  try {
    await refusePooledTransactions(admin, { ...address, database: 'postgres' })
    await ensureRoles(admin, secrets)
    for (const [name, owner] of [
      [address.database, OWNER],
      [HASURA_DATABASE, 'pronghorn_hasura'],
    ] as const) {
      if (await ensureDatabase(admin, name, owner)) say(`Database ${name} created.\n`)
    }
    await allowConnections(admin, address.database)
  } finally {
    await admin.end()
  }
  if (options.withoutSchema) return
  const owner = await connectDatabase(
    { ...address, user: OWNER, password: secrets.filler },
    { applicationName: 'pronghorn-prepare' },
  )
  try {
    const applied = await migrate(owner)
    say(
      applied.length === 0
        ? 'The schema was already the newest.\n'
        : `Migrations applied: ${applied.join(', ')}.\n`,
    )
    await checkDatabaseChain(owner, options.chainId)
    await grantRights(owner)
  } finally {
    await owner.end()
  }
}

/**
 * Creates the role that reads the views over SQL, or changes the password of the role.
 * @returns PostgreSQL URL with the role and its new password. Only a verifier of the password is stored.
 */
export async function createSqlReader({
  address,
  secrets,
  waitMs,
}: Pick<PrepareOptions, 'address' | 'secrets' | 'waitMs'>): Promise<string> {
  const admin = await connectAdmin({ ...address, database: 'postgres' }, waitMs)
  let password: string
  try {
    password = await ensureSqlReader(admin, address.database)
  } finally {
    await admin.end()
  }
  const owner = await connectDatabase(
    { ...address, user: OWNER, password: secrets.filler },
    { applicationName: 'pronghorn-prepare' },
  )
  try {
    await grantRights(owner)
  } finally {
    await owner.end()
  }
  return `postgres://${SQL_READER}:${password}@${address.host}:${address.port}/${address.database}`
}

async function connectAdmin(
  address: DatabaseAddress,
  waitMs: number,
): Promise<Awaited<ReturnType<typeof connectDatabase>>> {
  try {
    return await retry(() => connectDatabase(address, { applicationName: 'pronghorn-prepare' }), {
      firstMs: RETRY_MS,
      withinMs: waitMs,
    })
  } catch (cause) {
    throw databaseFailure(cause, 'PostgreSQL cannot be reached', address)
  }
}
