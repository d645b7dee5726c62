import { setTimeout as delay } from 'node:timers/promises'
import { nameToBigInt } from '../../core/antelope/index.ts'
import type { ChainSource } from '../sources/index.ts'
import { placesOf } from '../tables/index.ts'
import type { Place, RowValues } from '../tables/index.ts'
import { DatabaseRows } from './database-rows.ts'
import type { Queryable } from './database-rows.ts'
import type { Suspect } from './compare-table.ts'
import { canonical, differenceOf } from './difference.ts'
import type { Difference } from './difference.ts'
import type { ChainFormats } from './formats.ts'
import { keyText } from './key-set.ts'

/** A difference is reported after it stayed unchanged for this number of blocks. */
const STANDING_BLOCKS = 10
/** A row that changes in every block is reported as undecided after this number of blocks. */
const PATIENCE_BLOCKS = 1_000

export interface SettleOptions {
  readonly database: Queryable
  readonly source: ChainSource
  readonly formats: ChainFormats | null
  readonly signal: AbortSignal
  /** Maximum time without a new block of the chain or of the database. */
  readonly stallMs: number
  /** Pause before the differing rows are read again, ms. */
  readonly pollMs: number
  readonly onRound?: (open: number) => void
}

/** State of a differing row that is read again. */
interface Open {
  suspect: Suspect
  /** Chain row and database row at the last read. */
  signature: string
  /**
   * The higher of the two blocks of chain and database when this difference was first seen. The difference counts
   * only once both chain and database are ten blocks past this block.
   */
  since: number
  /** The lower of the blocks of chain and database when the row was first read again. */
  first: number
  /** Every value that the row has had on the chain so far. A database behind the chain gets these values later. */
  shown: Set<string>
}

/** Final result of the rows that differed. */
export interface Settled {
  /** Rows that still differed when the re-reads ended. */
  readonly differing: readonly { readonly suspect: Suspect; readonly difference: Difference }[]
  /** Rows that differed at first and agreed when they were compared again. */
  readonly agreed: readonly Suspect[]
  /** Rows without a result: the chain and the database have both stopped, or the rows change in every block. */
  readonly open: readonly Suspect[]
  /** Reason why the rows of `open` are undecided; null if there are none. */
  readonly reason: string | null
}

/**
 * Reads differing rows again at later blocks until they agree, or the difference has stayed unchanged for ten blocks.
 * If chain and database stop at the same block, the difference counts at once.
 *
 * @throws RetryableError `CHAIN_UNREACHABLE`.
 */
export async function settleSuspects(suspects: readonly Suspect[], options: SettleOptions): Promise<Settled> {
  const differing: { suspect: Suspect; difference: Difference }[] = []
  const agreed: Suspect[] = []
  let open = suspects.map((suspect): Open => ({
    suspect,
    signature: signatureOf(suspect),
    since: Infinity,
    first: Infinity,
    shown: new Set([canonical(suspect.chain)]),
  }))
  const chainClock = new MoveClock()
  const databaseClock = new MoveClock()
  while (open.length > 0) {
    options.signal.throwIfAborted()
    options.onRound?.(open.length)
    const before = await readPlace(options)
    const looked = await lookAgain(
      open.map(({ suspect }) => suspect),
      options,
    )
    const after = await readPlace(options)
    const slower = Math.min(before.chain.num, before.database.num)
    // A filler behind the chain reaches the block of a changed row late. A difference therefore counts from the higher
    // of two blocks: the chain's head and the database's committed block.
    const faster = Math.max(after.chain.num, after.database.num)
    const isSame = before.key === after.key && before.chain.id === before.database.id
    const restMs = Math.max(chainClock.restMs(after.chain.id), databaseClock.restMs(after.database.id))
    const hasStalled = restMs > options.stallMs
    const next: Open[] = []
    open.forEach((was, i) => {
      const suspect = looked[i]!
      const difference = differenceOf(suspect.table, suspect)
      const shown = was.shown.add(canonical(suspect.chain))
      // A row that changes in every block may never be equal in chain and database at the same time. Such a row agrees
      // if the database has a value that the row had on the chain before.
      if (difference === null || shown.has(canonical(suspect.database))) {
        agreed.push(suspect)
        return
      }
      const signature = signatureOf(suspect)
      const since = signature === was.signature ? Math.min(was.since, faster) : faster
      if (slower - since >= STANDING_BLOCKS || (isSame && hasStalled)) differing.push({ suspect, difference })
      else next.push({ suspect, signature, since, first: Math.min(was.first, slower), shown })
    })
    open = next
    const rest = open.map(({ suspect }) => suspect)
    if (rest.length > 0 && hasStalled && !isSame) {
      const seconds = Math.round(options.stallMs / 1_000)
      const at = `the chain is at block ${after.chain.num}, the database at block ${after.database.num}`
      return { differing, agreed, open: rest, reason: `no new block for ${seconds} seconds: ${at}` }
    }
    if (open.some(({ first }) => slower - first > PATIENCE_BLOCKS)) {
      const reason = `${rest.length} rows changed during every comparison, and never were equal in the database and on the chain`
      return { differing, agreed, open: rest, reason }
    }
    if (open.length > 0) await delay(options.pollMs)
  }
  return { differing, agreed, open: [], reason: null }
}

function signatureOf({ chain, database }: Suspect): string {
  return `${canonical(chain)} ${canonical(database)}`
}

/** Measures how long chain and database have been at the same blocks. */
class MoveClock {
  #id = ''
  #since = performance.now()

  restMs(id: string): number {
    const now = performance.now()
    if (id !== this.#id) [this.#id, this.#since] = [id, now]
    return now - this.#since
  }
}

/** Head of the chain and position of the slowest reader. */
async function readPlace({ source, database }: SettleOptions) {
  const head = (await source.head())!
  const { rows } = await database.query<{ num: number; id: string }>(POSITION_SQL)
  const found = rows[0] ?? { num: 0, id: '' }
  return { chain: head, database: found, key: `${head.id} ${found.id}` }
}

/** The committed block of the reader that is furthest behind. */
export const POSITION_SQL = `
  SELECT r.block_num AS num, encode(r.block_id, 'hex') AS id, r.block_time AS time, r.name FROM chain.readers r
  WHERE r.name IN (SELECT reader FROM chain.sources) ORDER BY r.block_num LIMIT 1`

async function lookAgain(suspects: readonly Suspect[], options: SettleOptions): Promise<Suspect[]> {
  await options.formats?.refresh(schemasOf(suspects))
  const rows = await readDatabase(suspects, options.database)
  return Promise.all(
    suspects.map(async (suspect) => {
      const database =
        rows.get(suspect.table.contractTable + suspect.table.family)?.get(keyText(suspect.key)) ?? null
      const { table, contract, key } = suspect
      const places = new Map(suspect.places.map((place) => [placeText(place), place]))
      if (database !== null) {
        for (const place of placesOf(table, { key, values: database, contract }))
          places.set(placeText(place), place)
      }
      const chain = await askChain(suspect, [...places.values()], options)
      return { ...suspect, chain, database, places: [...places.values()] }
    }),
  )
}

async function askChain(
  { table, contract, key }: Suspect,
  places: readonly Place[],
  { source, formats }: SettleOptions,
): Promise<RowValues | null> {
  const context = formats ?? { collectionFormat: [], formatOf: () => [] }
  for (const place of places) {
    const row = await source.row(contract, table.contractTable, place)
    if (row === null) continue
    const expected = table.expect(row, context)
    if (keyText(expected.key) === keyText(key)) return expected.values
  }
  return null
}

function placeText({ scope, primary }: Place): string {
  return `${scope} ${primary}`
}

/** Reads the database rows of all suspects (rows that differed), by contract table and family, then by key. */
async function readDatabase(
  suspects: readonly Suspect[],
  database: Queryable,
): Promise<Map<string, Map<string, RowValues>>> {
  const found = new Map<string, Map<string, RowValues>>()
  for (const table of new Set(suspects.map((suspect) => suspect.table))) {
    const keys = suspects.filter((suspect) => suspect.table === table).map(({ key }) => key)
    const rows = await new DatabaseRows(database, table).read(keys)
    found.set(
      table.contractTable + table.family,
      new Map(rows.map(({ key, values }) => [keyText(key), values])),
    )
  }
  return found
}

/** Schemas whose formats decode attributes of the suspects (rows that differed). */
function schemasOf(suspects: readonly Suspect[]): [string, string, bigint][] {
  const schemas = new Map<string, [string, string, bigint]>()
  for (const { chain, database } of suspects) {
    for (const values of [chain, database]) {
      const { collection_name: collection, schema_name: schema } = values ?? {}
      if (typeof collection !== 'string' || typeof schema !== 'string') continue
      schemas.set(`${collection}/${schema}`, [collection, schema, nameToBigInt(schema)])
    }
  }
  return [...schemas.values()]
}
