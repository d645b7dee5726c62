import type pg from 'pg'
import { CommitUnit } from '../../store/index.ts'
import type { Store } from '../../store/index.ts'
import { loadStep } from '../progress.ts'
import type { PartContext } from './copy-parts.ts'
import { among, keyRange, rangesOf } from './copy-steps.ts'
import type { ListingPart, LoggedFacts } from './listing-parts.ts'
import type { UndoneSource } from './old-undo.ts'

/**
 * Number of consecutive ids (of offers, listings or claim links) in one commit unit. One transaction writes the rows of
 * a commit unit and their derived values.
 */
const UNIT_IDS = 5_000

type Row = Record<string, unknown>

/** Rows of a source table that the reversible blocks of the source database changed. */
export interface ChangedListings {
  readonly ids: ReadonlySet<bigint>
  /**
   * Rows that reversible blocks changed, with their values as of the last irreversible block. Rows that reversible
   * blocks added are absent.
   */
  readonly before: readonly Row[]
}

/**
 * Reads which rows of a table the reversible blocks of the source database changed, and the values of these rows as of
 * the last irreversible block.
 */
export async function readListings(part: ListingPart, undone: UndoneSource): Promise<ChangedListings> {
  const keys = undone.keys(part.entity)
  const before = keys.length === 0 ? [] : await undone.query<Row>(part.select(among(keys, true)))
  return { ids: new Set(keys.map(BigInt)), before }
}

export interface ListingWork {
  readonly store: Store
  /** A session on the snapshot of the source database. */
  readonly source: pg.Client
  readonly context: PartContext
  readonly parts: readonly ListingPart[]
  /**
   * By table: rows that the reversible blocks of the source database changed. The snapshot has the values after these
   * blocks. The import writes the values as of the last irreversible block instead, because the import ends at this
   * block.
   */
  readonly changed: ReadonlyMap<string, ChangedListings>
  readonly precisions: ReadonlyMap<string, number>
  /** Time of the import block, which is the last irreversible block of the source database. */
  readonly timeMs: number
  readonly done: ReadonlySet<string>
  readonly signal: AbortSignal
  readonly onStep: (phase: string, done: number, of: number, rows: number) => void
}

/** Writes offers, listings and claim links through the store, which computes their derived values. */
export async function writeListings(work: ListingWork): Promise<void> {
  for (const part of work.parts) await writePart(work, part)
}

async function writePart(work: ListingWork, part: ListingPart): Promise<void> {
  const keys = await keyRange(work.context, part)
  const ranges = keys === null ? [] : [...rangesOf(...keys, UNIT_IDS)]
  let finished = 0
  for (const range of ranges) {
    work.signal.throwIfAborted()
    const step = `${part.table} ${range[0]}`
    const rows = work.done.has(step) ? 0 : await writeRange(work, part, step, range)
    work.onStep(part.table, ++finished, ranges.length, rows)
  }
}

async function writeRange(
  { store, source, changed, precisions, timeMs }: ListingWork,
  part: ListingPart,
  step: string,
  [from, to]: readonly [bigint, bigint],
): Promise<number> {
  const idOf = (row: Row) => row[part.column] as bigint
  const { rows } = await source.query<Row>(
    part.select((column) => `${column} >= ${from} AND ${column} < ${to}`),
  )
  const { ids: changedIds, before } = changed.get(part.table)!
  const isHere = (row: Row) => idOf(row) >= from && idOf(row) < to
  const all = [...rows.filter((row) => !changedIds.has(idOf(row))), ...before.filter(isHere)]
  const ids = all.map(idOf)
  const facts = await readFacts(store, part, ids, precisions)
  const unit = new CommitUnit(false)
  for (const row of all) part.put(row as never, unit, facts)
  await loadStep(store, { name: step, unit, rows: all.length, timeMs })
  return all.length
}

/**
 * Reads the data about listings that only the log of the source database contains. The steps that copy events have
 * stored these data in tables of the schema `import`.
 */
async function readFacts(
  store: Store,
  part: ListingPart,
  ids: readonly bigint[],
  precisions: ReadonlyMap<string, number>,
): Promise<LoggedFacts> {
  const medians = new Map<bigint, string>()
  const startingBids = new Map<bigint, bigint>()
  const auctionChanges = new Map<bigint, { block: number; timeMs: number }>()
  if (part.table === 'market.sales') {
    const rows = await store.query<{ id: bigint; median: string }>(
      'SELECT sale_id AS id, median FROM import.medians WHERE sale_id = ANY($1::bigint[])',
      [ids],
    )
    for (const { id, median } of rows) medians.set(id, median)
  }
  if (part.table === 'market.auctions') {
    const bids = await store.query<{ id: bigint; amount: bigint }>(
      'SELECT auction_id AS id, amount FROM import.starting_bids WHERE auction_id = ANY($1::bigint[])',
      [ids],
    )
    for (const { id, amount } of bids) startingBids.set(id, amount)
    const changes = await store.query<{ id: bigint; block: number; time: bigint }>(
      `SELECT auction_id AS id, max(block) AS block, max(time_ms) AS time FROM import.auction_changes
       WHERE auction_id = ANY($1::bigint[]) GROUP BY 1`,
      [ids],
    )
    for (const { id, block, time } of changes)
      // If the start of an auction is not logged, later actions on the auction may not be logged either. The time of
      // the last change is then unknown, so the auction keeps the time that the source database stores.
      if (startingBids.has(id)) auctionChanges.set(id, { block, timeMs: Number(time) })
  }
  return { medians, startingBids, auctionChanges, precisions }
}
