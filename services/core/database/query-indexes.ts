import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { FatalError } from '../errors/index.ts'
import { packageRoot } from '../paths/index.ts'

/** An index that only queries need, as declared in `indexes/<family>.sql`. */
interface QueryIndex {
  readonly name: string
  /** Schema-qualified table. */
  readonly table: string
  /** Everything after the table's name. */
  readonly definition: string
}

/** How often a build checks whether another one has ended. */
const LOCK_POLL_MS = 500

const CREATE = /^CREATE INDEX (\w+) ON ([\w.]+) ([^;]+);$/
const DROP = /^DROP INDEX (\w+\.\w+);$/

/** What `indexes/<family>.sql` declares. */
interface DeclaredIndexes {
  readonly indexes: readonly QueryIndex[]
  /** Schema-qualified names of those of earlier versions, which serve until their successors are built. */
  readonly replaced: readonly string[]
}

/** Names of the families that have query indexes. */
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

/** Query indexes of a family that are missing, or were left invalid by a build that was cut off. */
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
 * Builds the missing query indexes of a family, one by one and online: readers and the writer continue meanwhile. What
 * an earlier run finished stays; invalid indexes are dropped and rebuilt; those that others replace are dropped last. One
 * build of a family runs at a time; others wait for it. Must run outside a transaction, on a connection without a
 * statement time-out.
 *
 * @param onBuilt called after each index.
 */
export async function buildQueryIndexes(
  client: pg.ClientBase,
  family: string,
  onBuilt: (name: string, elapsedMs: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<void> {
  // A build whose client is gone would run for hours. Not every system lets the server notice.
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

/** How often values of an expression occur is known only once they have been looked at: until then plans are guesses. */
async function describeExpressions(client: pg.ClientBase, { name, table }: QueryIndex): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM pg_index i WHERE i.indexrelid = to_regclass($1) AND i.indexprs IS NOT NULL',
    [`${table.split('.')[0]!}.${name}`],
  )
  if (rowCount !== 0) await client.query(`ANALYZE ${table}`)
}

const FAMILY_LOCK = "hashtextextended('pronghorn query indexes ' || $1, 0)"

/**
 * Waits until no other session builds indexes of the family; false when the signal came first. Asks again and again,
 * because an online build waits for every statement that began before its end, and so for one that waits for it.
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

/** A plain drop would queue behind a reader of the table, and the writer behind the drop. */
async function dropOnline(client: pg.ClientBase, index: string): Promise<void> {
  await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`)
}

/**
 * PostgreSQL builds no index online on a partitioned table: the parent's is declared first (invalid until every
 * partition has its own), then each partition's is built online and attached. Partitions created later get theirs by
 * themselves.
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
