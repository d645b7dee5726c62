import { createHash } from 'node:crypto'
import type pg from 'pg'
import { connectDatabase } from '../../../core/database/index.ts'
import type { DatabaseAddress } from '../../../core/database/index.ts'
import type { Accounts } from '../reader-handlers.ts'
import { unfit } from '../unfit.ts'
import { describeError, RetryableError } from '../../../core/errors/index.ts'

/** Position of a reader in the source database. */
export interface OldPosition {
  readonly reader: string
  /** Last irreversible block of the source database. The import takes over the state at this block. */
  readonly block: number
  /** Newest block of the source database, and its time in ms since 1970. */
  readonly newest: number
  readonly newestTimeMs: number
  /** Reversible blocks of the source database, ascending; ids are hexadecimal. */
  readonly reversible: readonly { readonly num: number; readonly id: string }[]
}

/** Properties of the source database that are read when the snapshot is opened. */
interface SourceFacts {
  readonly address: DatabaseAddress
  /** Snapshot id from `pg_export_snapshot`. */
  readonly snapshot: string
  readonly position: OldPosition
  readonly version: string
  /**
   * Names of the source's tables, as `table`, and of their columns, as `table.column`: `has` looks up names in this
   * set.
   */
  readonly columns: ReadonlySet<string>
}

/**
 * Version of the work tables of an import from a source database. A program with another COPY_VERSION does not
 * resume an unfinished import, but starts the import again.
 */
const COPY_VERSION = 2

/** A snapshot of a database of eosio-contract-api or atomicassets-api. The import never changes this database. */
export class OldSource {
  readonly address: DatabaseAddress
  readonly position: OldPosition
  /** Version of the source's schema, from the table `dbinfo`. */
  readonly version: string
  /**
   * SHA-256 of COPY_VERSION and of the address, version and position of the source database. A run resumes an
   * unfinished import only if the fingerprint is the same. If the source indexes more blocks, the fingerprint changes.
   */
  readonly fingerprint: string
  readonly #leader: pg.Client
  readonly #snapshot: string
  readonly #columns: ReadonlySet<string>

  constructor(leader: pg.Client, { address, snapshot, position, version, columns }: SourceFacts) {
    this.address = address
    this.#leader = leader
    this.#snapshot = snapshot
    this.position = position
    this.version = version
    this.#columns = columns
    this.fingerprint = createHash('sha256')
      .update(JSON.stringify([COPY_VERSION, address.host, address.port, address.database, version, position]))
      .digest('hex')
  }

  /** Whether the source database has a table, or a column of a table. */
  has(table: string, column?: string): boolean {
    return this.#columns.has(column === undefined ? table : `${table}.${column}`)
  }

  /** Runs a query in the session that holds the snapshot. */
  async query<T extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    const { rows } = await this.#leader.query<T>(text, [...values])
    return rows
  }

  /**
   * Opens a new session of the source database that sees the same snapshot.
   * @param mode `read` begins a read-only transaction. `write` begins a transaction that may change rows; the caller
   * must roll the transaction back.
   */
  async openSession(mode: 'read' | 'write'): Promise<pg.Client> {
    const client = await connectSource(this.address)
    await client.query(
      `BEGIN ISOLATION LEVEL REPEATABLE READ ${mode === 'read' ? 'READ ONLY' : 'READ WRITE'}`,
    )
    await client.query(`SET TRANSACTION SNAPSHOT ${client.escapeLiteral(this.#snapshot)}`)
    return client
  }

  /** Closes the session that holds the snapshot. */
  async close(): Promise<void> {
    await this.#leader.end().catch(() => undefined)
  }
}

async function connectSource(address: DatabaseAddress): Promise<pg.Client> {
  const client = await connectDatabase(address, { applicationName: 'pronghorn import' }).catch(
    (cause: unknown) => {
      const place = `${address.host}:${address.port}`
      throw new RetryableError(
        'IMPORT_SOURCE_UNAVAILABLE',
        `the database to import at ${place} cannot be opened: ${describeError(cause)}`,
      )
    },
  )
  // Fixed settings of the session: the text format of times and numbers must not depend on the server's settings.
  await client.query(
    `SET extra_float_digits = 1; SET bytea_output = 'hex'; SET client_encoding = 'UTF8'; SET search_path = public, pg_catalog; SET jit = off`,
  )
  return client
}

/**
 * Opens a snapshot of the source database.
 *
 * @param reader reader name in the source; optional if the source has exactly one reader.
 * @throws FatalError `IMPORT_SOURCE_UNFIT`; RetryableError `IMPORT_SOURCE_UNAVAILABLE`.
 */
export async function openOldSource(address: DatabaseAddress, reader?: string): Promise<OldSource> {
  const leader = await connectSource(address)
  try {
    await leader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const { rows } = await leader.query<{ snapshot: string }>('SELECT pg_export_snapshot() AS snapshot')
    const columns = await readColumns(leader)
    const version = await readVersion(leader, columns)
    const position = await readPosition(leader, reader)
    return new OldSource(leader, { address, snapshot: rows[0]!.snapshot, position, version, columns })
  } catch (error) {
    await leader.end().catch(() => undefined)
    throw error
  }
}

async function readColumns(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `SELECT c.relname AS table, a.attname AS column FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped`,
  )
  return new Set(rows.flatMap(({ table, column }) => [table, `${table}.${column}`]))
}

const needed = ['dbinfo', 'contract_readers', 'reversible_queries', 'atomicassets_assets', 'contract_traces']

async function readVersion(client: pg.Client, columns: ReadonlySet<string>): Promise<string> {
  const missing = needed.filter((table) => !columns.has(table))
  if (missing.length > 0)
    throw unfit(`the database lacks ${missing.join(', ')}, so it is not a database of eosio-contract-api`)
  const { rows } = await client.query<{ value: string }>("SELECT value FROM dbinfo WHERE name = 'version'")
  const version = rows[0]?.value ?? 'unknown'
  if (!/^(1\.3|2)\./.test(version))
    throw unfit(
      `the database has version ${version}, but only 1.3.x and 2.x can be imported: start the filler of a newer eosio-contract-api first, which upgrades the database`,
    )
  return version
}

/** Large source tables, which are read in key ranges. Without an index, each range would scan the whole table. */
const indexed = [
  'contract_traces',
  'atomicassets_assets',
  'atomicassets_transfers',
  'atomicassets_transfers_assets',
  'atomicassets_offers_assets',
]

/** Finds the large source tables that have no index. */
export async function findUnindexed(source: OldSource): Promise<string[]> {
  const rows = await source.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
       AND c.relname = ANY($1) AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisvalid) ORDER BY 1`,
    [indexed],
  )
  return rows.map(({ name }) => name)
}

async function readPosition(client: pg.Client, wanted: string | undefined): Promise<OldPosition> {
  const { rows } = await client.query<{ name: string; num: bigint; time: bigint }>(
    'SELECT name, block_num AS num, block_time AS time FROM contract_readers ORDER BY name',
  )
  const names = rows.map(({ name }) => name).join(', ')
  const row = wanted === undefined && rows.length === 1 ? rows[0] : rows.find(({ name }) => name === wanted)
  if (!row) {
    if (wanted === undefined)
      throw unfit(`the database has the readers ${names || '(none)'}: choose one with --source-reader`)
    throw unfit(`the database has no reader ${wanted}; its readers are ${names || '(none)'}`)
  }
  const newest = Number(row.num)
  const blocks = await client.query<{ num: bigint; id: string }>(
    `SELECT block_num AS num, encode(block_id, 'hex') AS id FROM reversible_blocks WHERE reader = $1 ORDER BY block_num`,
    [row.name],
  )
  const reversible = blocks.rows.map(({ num, id }) => ({ num: Number(num), id }))
  const first = reversible[0]?.num
  if (first !== undefined && (reversible.at(-1)!.num !== newest || newest - first + 1 !== reversible.length))
    throw unfit(`the database lacks some reversible blocks between ${first} and its position ${newest}`)
  const block = first === undefined ? newest : first - 1
  if (block < 1) throw unfit(`reader ${row.name} of the database has not indexed a block yet`)
  return { reader: row.name, block, newest, newestTimeMs: Number(row.time), reversible }
}

/** For each family, a table that the source database has only if the replaced system ran the handler of the family. */
const tablesOfFamilies = {
  assets: 'atomicassets_config',
  market: 'atomicmarket_config',
  oracle: 'delphioracle_pairs',
} as const

/**
 * Checks that the source database has the tables of each family that the reader indexes. The tools family is not
 * checked, because its tables are optional.
 *
 * @throws FatalError `IMPORT_SOURCE_UNFIT`.
 */
export function requireFamilies(source: OldSource, accounts: Accounts): void {
  for (const family of ['assets', 'market', 'oracle'] as const) {
    const table = tablesOfFamilies[family]
    if (accounts[family] !== null && !source.has(table))
      throw unfit(`the database lacks the table ${table}: remove the handler ${family} from the reader`)
  }
}
