import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { FatalError } from '../errors/index.ts'
import { packageRoot } from '../paths/index.ts'

/** An index that only API queries need, as declared in `indexes/<family>.sql`. */
interface QueryIndex {
  readonly name: string
  /** Table name with schema. */
  readonly table: string
  /** Rest of the CREATE INDEX statement after the table name. */
  readonly definition: string
}

/** Interval in ms at which a build checks whether a concurrent build has ended. */
const LOCK_POLL_MS = 500

const CREATE = /^CREATE INDEX (\w+) ON ([\w.]+) ([^;]+);$/
const DROP = /^DROP INDEX (\w+\.\w+);$/

/** Content of `indexes/<family>.sql`. */
interface DeclaredIndexes {
  readonly indexes: readonly QueryIndex[]
  /** Indexes of earlier versions, with schema. A replaced index stays until its replacement is built. */
  readonly replaced: readonly string[]
}

/** Lists the families that have query indexes. */
export async function listIndexFamilies(): Promise<string[]> {
  const files = await readdir(join(packageRoot, 'services/core/database/indexes'))
  return files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -4))
}

async function readIndexes(family: string): Promise<DeclaredIndexes> {
  const text = await readFile(join(packageRoot, `services/core/database/indexes/${family}.sql`), 'utf8')
  const indexes: QueryIndex[] = []
  const replaced: string[] = []
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('--'))) {
    const created = CREATE.exec(line)
    const dropped = DROP.exec(line)
    if (created) indexes.push({ name: created[1]!, table: created[2]!, definition: created[3]! })
    else if (dropped) replaced.push(dropped[1]!)
    else throw new FatalError('INSTALLATION_BROKEN', `indexes/${family}.sql: cannot read: ${line}`)
  }
  return { indexes, replaced }
}

/** Statements that create all query indexes, for a database that nobody uses yet. */
export async function listIndexStatements(): Promise<string[]> {
  const families = await listIndexFamilies()
  const declared = await Promise.all(families.map((family) => readIndexes(family)))
  return declared.flatMap(({ indexes }) =>
    indexes.map(
      ({ name, table, definition }) => `CREATE INDEX IF NOT EXISTS ${name} ON ${table} ${definition}`,
    ),
  )
}

/** Lists the query indexes of a family that are missing, or invalid because a build was interrupted. */
export async function listMissingIndexes(client: pg.ClientBase, family: string): Promise<string[]> {
  const missing: string[] = []
  for (const index of (await readIndexes(family)).indexes)
    if ((await indexState(client, index)) !== 'valid') missing.push(index.name)
  return missing
}

async function indexState(client: pg.ClientBase, index: QueryIndex): Promise<'valid' | 'invalid' | 'absent'> {
  const schema = index.table.split('.')[0]!
  const { rows } = await client.query<{ valid: boolean }>(
    'SELECT i.indisvalid AS valid FROM pg_index i WHERE i.indexrelid = to_regclass($1)',
    [`${schema}.${index.name}`],
  )
  if (rows.length === 0) return 'absent'
  return rows[0]!.valid ? 'valid' : 'invalid'
}

/**
 * Builds the missing query indexes of a family one by one and online: readers and the writer continue meanwhile.
 *
 * - Valid indexes of earlier runs stay.
 * - Invalid indexes are dropped and rebuilt.
 * - Replaced indexes are dropped last.
 * - One build per family runs at a time; further builds wait.
 *
 * Must run outside a transaction, on a connection without statement timeout.
 *
 * @param onBuilt called after each index.
 */
export async function buildQueryIndexes(
  client: pg.ClientBase,
  family: string,
  onBuilt: (name: string, elapsedMs: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<void> {
  // Make the server check every 5 seconds whether the client is still connected. Otherwise the server would continue
  // the build for hours without a client. Not every operating system supports `client_connection_check_interval`.
  await client.query("SET client_connection_check_interval = '5s'").catch(() => undefined)
  if (!(await lockFamily(client, family, signal))) return
  try {
    const { indexes, replaced } = await readIndexes(family)
    for (const index of indexes) {
      if (signal?.aborted) return
      if ((await indexState(client, index)) === 'valid') continue
      const started = performance.now()
      if (await isPartitioned(client, index.table)) await buildOnPartitions(client, index)
      else await buildOnline(client, index.table, index.name, index.definition)
      await describeExpressions(client, index)
      onBuilt(index.name, performance.now() - started)
    }
    for (const name of replaced) await dropOnline(client, name)
  } finally {
    await client.query(`SELECT pg_advisory_unlock(${FAMILY_LOCK})`, [family]).catch(() => undefined)
  }
}

/**
 * Collects statistics after building an expression index. Without statistics the planner guesses how often values of
 * the expression occur.
 */
async function describeExpressions(client: pg.ClientBase, { name, table }: QueryIndex): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM pg_index i WHERE i.indexrelid = to_regclass($1) AND i.indexprs IS NOT NULL',
    [`${table.split('.')[0]!}.${name}`],
  )
  if (rowCount !== 0) await client.query(`ANALYZE ${table}`)
}

const FAMILY_LOCK = "hashtextextended('pronghorn query indexes ' || $1, 0)"

/**
 * Waits until no other session builds indexes of the family; false if the signal aborts first. Polls the lock instead
 * of waiting in one statement: CREATE INDEX CONCURRENTLY waits for all older statements, so both sessions would
 * deadlock.
 */
async function lockFamily(
  client: pg.ClientBase,
  family: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  while (!signal?.aborted) {
    const { rows } = await client.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_lock(${FAMILY_LOCK}) AS locked`,
      [family],
    )
    if (rows[0]!.locked) return true
    await delay(LOCK_POLL_MS)
  }
  return false
}

async function isPartitioned(client: pg.ClientBase, table: string): Promise<boolean> {
  const { rows } = await client.query<{ kind: string }>(
    'SELECT relkind::text AS kind FROM pg_class WHERE oid = $1::regclass',
    [table],
  )
  return rows[0]?.kind === 'p'
}

async function buildOnline(
  client: pg.ClientBase,
  table: string,
  name: string,
  definition: string,
): Promise<void> {
  await dropOnline(client, `${table.split('.')[0]!}.${name}`)
  await client.query(`CREATE INDEX CONCURRENTLY ${name} ON ${table} ${definition}`)
}

/**
 * Drops an index with CONCURRENTLY. A plain DROP would wait for running queries of the table, and the writer would wait
 * for the DROP.
 */
async function dropOnline(client: pg.ClientBase, index: string): Promise<void> {
  await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`)
}

/**
 * Builds an index on a partitioned table, where PostgreSQL supports no online build: declares the index of the parent
 * table (invalid until every partition has an index), then builds each partition's index online and attaches it. Later
 * partitions get the index automatically.
 */
async function buildOnPartitions(client: pg.ClientBase, index: QueryIndex): Promise<void> {
  const schema = index.table.split('.')[0]!
  await client.query(`CREATE INDEX IF NOT EXISTS ${index.name} ON ONLY ${index.table} ${index.definition}`)
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = $1::regclass AND NOT EXISTS (
       SELECT 1 FROM pg_index x JOIN pg_inherits p ON p.inhrelid = x.indexrelid
       WHERE x.indrelid = c.oid AND p.inhparent = to_regclass($2)) ORDER BY 1`,
    [index.table, `${schema}.${index.name}`],
  )
  for (const { name } of rows) {
    const part = `${name}_${index.name}`.slice(0, 63)
    await buildOnline(client, `${schema}.${name}`, part, index.definition)
    await client.query(`ALTER INDEX ${schema}.${index.name} ATTACH PARTITION ${schema}.${part}`)
  }
}
