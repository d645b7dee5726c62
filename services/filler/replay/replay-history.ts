import type pg from 'pg'
import { FatalError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { allMarketListings } from '../../core/model/tables/index.ts'
import { resealRanges, sealedKinds, settleImported, usePinnedFormat } from '../../core/seals/index.ts'
import type { SealedKind } from '../../core/seals/index.ts'
import { createHandler, createStateWriter, sortFamilies } from '../handlers/index.ts'
import type { Handler, Query } from '../handlers/index.ts'
import type { ReaderOptions, ReaderSettings } from '../pipeline/index.ts'
import { replayBlocks } from './block-replay.ts'
import type { BlockRange, ReplayedWindow } from './block-replay.ts'
import { compareAppended } from './compare-appended.ts'
import { compareKeyed, findExtra } from './compare-keyed.ts'
import type { HistoryDifference, KindCounts } from './difference.ts'
import { completeRows, deriveRows, isOfTrades } from './expected-rows.ts'

export interface ReplayHistoryOptions {
  readonly settings: ReaderSettings
  readonly chain: ReaderOptions['chain']
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Ranges to compare, ascending; reversible blocks are left out. */
  readonly ranges: readonly BlockRange[]
  /** Kinds of rows to compare; default: all kinds that the reader fills. */
  readonly kinds?: readonly string[]
  /** Whether the comparison replaces rows of the database that differ from the chain. The client must be in a transaction that holds the reader's lease. */
  readonly isRepair?: boolean
  readonly onProgress?: (block: number) => void
  readonly shipTiming?: ReaderOptions['shipTiming']
  /**
   * Memory limit for the rows of one window (the blocks that are compared at once), bytes. Tests set a small value to
   * get several windows.
   */
  readonly windowBytes?: number
}

/** Result of a comparison of history with the chain. */
export interface ReplayedHistory {
  readonly ranges: readonly BlockRange[]
  readonly blocks: number
  readonly kinds: Readonly<Record<string, KindCounts>>
  readonly differences: readonly HistoryDifference[]
  /** Rows that were not compared, each with the reason. */
  readonly notCompared: readonly string[]
  /**
   * Number of imported ranges whose rows agree with the chain. The seals of these ranges are then marked like seals of
   * ranges that were indexed from blocks.
   */
  readonly settled: number
  /** Number of ranges that were sealed again after a repair. */
  readonly resealed: number
}

/** Maximum number of times that derived columns are computed again in a repair. */
const MOST_PASSES = 5
/** Default memory limit for the rows of one window (the blocks that are compared at once), bytes. */
const WINDOW_BYTES = 256 * 2 ** 20

/**
 * Replays blocks: reads them from the node again, passes them through the reader's handlers, and compares the
 * resulting rows of history with the database, which may be in use. With `isRepair` it replaces the rows of the database
 * that differ and seals their ranges again.
 *
 * @throws the errors of the session with the node.
 */
export async function replayHistory(
  client: pg.ClientBase,
  options: ReplayHistoryOptions,
): Promise<ReplayedHistory> {
  await usePinnedFormat(client)
  const ranges = await settledRanges(client, options)
  const comparison = new HistoryComparison(
    client,
    options,
    await readWholeness(client, options.settings.name),
  )
  for (const range of ranges) await comparison.compare(range)
  return comparison.end(ranges)
}

/** Cuts the ranges to the blocks that the reader has indexed and that no fork can undo. */
async function settledRanges(
  client: pg.ClientBase,
  { settings, ranges }: ReplayHistoryOptions,
): Promise<BlockRange[]> {
  const { rows } = await client.query<{ first: number; last: number | null }>(
    `SELECT greatest(r.start_block, 1) AS first, (SELECT min(block_num) FROM chain.reversible_blocks WHERE reader = r.name) AS last
     FROM chain.readers r WHERE r.name = $1`,
    [settings.name],
  )
  const { first = 1, last = 0 } = rows[0] ?? {}
  return ranges
    .map(({ firstBlock, lastBlock }) => ({
      firstBlock: Math.max(firstBlock, first),
      lastBlock: Math.min(lastBlock, last ?? 0),
    }))
    .filter(({ firstBlock, lastBlock }) => firstBlock <= lastBlock)
}

/**
 * Whether every row that reaches its final state in a block must exist: false if the reader started in the middle of the
 * chain.
 */
async function readWholeness(client: pg.ClientBase, reader: string): Promise<boolean> {
  const { rows } = await client.query<{ whole: boolean }>(
    `SELECT r.start_block <= 2 OR EXISTS (SELECT FROM chain.imports i WHERE i.reader = r.name AND i.kind = 'database') AS whole
     FROM chain.readers r WHERE r.name = $1`,
    [reader],
  )
  return rows[0]?.whole ?? false
}

class HistoryComparison {
  readonly #client: pg.ClientBase
  readonly #options: ReplayHistoryOptions
  readonly #isWhole: boolean
  readonly #handlers: readonly Handler[]
  readonly #kinds: readonly SealedKind[]
  readonly #counts: Record<string, KindCounts>
  readonly #differences: HistoryDifference[] = []
  readonly #query: Query

  constructor(client: pg.ClientBase, options: ReplayHistoryOptions, isWhole: boolean) {
    this.#client = client
    this.#options = options
    this.#isWhole = isWhole
    this.#handlers = createFamilies(options.settings)
    const families = new Set<string>(['chain', ...this.#handlers.map(({ family }) => family)])
    this.#kinds = sealedKinds.filter(
      ({ name, family }) => families.has(family) && (options.kinds?.includes(name) ?? true),
    )
    this.#counts = Object.fromEntries(
      this.#kinds.map(({ name }) => [name, { rows: 0, partly: 0, skipped: 0, differences: 0 }]),
    )
    this.#query = async <T extends Record<string, unknown>>(text: string, values: readonly unknown[] = []) =>
      (await client.query<T>(text, [...values])).rows
  }

  async compare(range: BlockRange): Promise<void> {
    await this.#client.query('DROP TABLE IF EXISTS pg_temp.replayed_keys')
    await this.#client.query('CREATE TEMP TABLE replayed_keys (kind text COLLATE "C", key text COLLATE "C")')
    const { settings, chain, logger, signal, shipTiming, windowBytes = WINDOW_BYTES } = this.#options
    await replayBlocks(
      {
        ...{ settings, chain, logger, signal, windowBytes, query: this.#query, handlers: this.#handlers },
        ...(shipTiming === undefined ? {} : { shipTiming }),
      },
      range,
      async (window) => {
        await this.#compareWindow(window)
        this.#options.onProgress?.(window.lastBlock)
      },
    )
    await this.#client.query('CREATE INDEX ON pg_temp.replayed_keys (key, kind)')
    await this.#client.query('ANALYZE pg_temp.replayed_keys')
    for (const kind of this.#kinds)
      if (!isAppended(kind))
        this.#note(kind, await findExtra(this.#client, kind, { ...range, isRepair: this.#isRepair }))
  }

  async end(ranges: readonly BlockRange[]): Promise<ReplayedHistory> {
    const broken = new Set(this.#differences.map(({ kind }) => kind))
    const clean = this.#kinds.filter(({ name }) => !broken.has(name)).map(({ name }) => name)
    const damaged = this.#kinds.filter(({ name }) => broken.has(name))
    const resealed = this.#isRepair ? await resealRanges(this.#client, damaged, ranges) : 0
    const settled = await settleImported(this.#client, clean, ranges)
    return {
      ranges,
      blocks: ranges.reduce((sum, { firstBlock, lastBlock }) => sum + lastBlock - firstBlock + 1, 0),
      kinds: this.#counts,
      differences: this.#differences,
      notCompared: this.#notCompared(),
      settled,
      resealed,
    }
  }

  get #isRepair(): boolean {
    return this.#options.isRepair === true
  }

  #note({ name }: SealedKind, differences: readonly HistoryDifference[]): void {
    this.#differences.push(...differences)
    this.#counts[name]!.differences += differences.length
  }

  async #compareWindow(window: ReplayedWindow): Promise<void> {
    const { unit, timeMs } = window
    const differing = new Map<string, Set<string>>()
    await this.#deriveRows(window)
    for (const kind of this.#kinds) {
      if (isAppended(kind)) {
        const { rows, differences } = await compareAppended(this.#client, kind, window, this.#isRepair)
        this.#counts[kind.name]!.rows += rows
        this.#note(kind, differences)
      } else if (kind.name !== TRADES) {
        const keys = await this.#compareKind(kind, window, new Set())
        differing.set(kind.name, keys)
      }
    }
    if (this.#isRepair && [...differing.values()].some(({ size }) => size > 0))
      await this.#repairDerived(window)
    const trades = this.#kinds.find(({ name }) => name === TRADES)
    if (trades === undefined) return
    // Compare trades after listings, because trades are derived from the database's listings.
    await deriveRows(unit, this.#query, timeMs, isOfTrades)
    const ofDiffering = allMarketListings.flatMap(({ kind, table }) =>
      Array.from(differing.get(table.name) ?? [], (key) => `${kind} ${key}`),
    )
    await this.#compareKind(trades, window, this.#isRepair ? new Set() : new Set(ofDiffering))
    await this.#keepKeys(trades, this.#isRepair ? [] : ofDiffering)
  }

  /** Computes the columns of the replayed rows that depend on rows of the database. */
  async #deriveRows({ unit, timeMs }: ReplayedWindow): Promise<void> {
    await completeRows(unit, this.#handlers, this.#query)
    await deriveRows(unit, this.#query, timeMs, (derivation) => !isOfTrades(derivation))
  }

  /**
   * Computes derived columns again after the repair has replaced rows. Replaces the rows whose derived columns then
   * differ. Some columns of a missing row, such as the price of a sale, can only be derived once the row exists.
   * @throws FatalError `VERIFY_UNFINISHED` if rows still differ after MOST_PASSES computations.
   */
  async #repairDerived(window: ReplayedWindow): Promise<void> {
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      await this.#deriveRows(window)
      let replaced = 0
      for (const kind of this.#kinds) {
        if (isAppended(kind) || kind.name === TRADES) continue
        const { differences } = await compareKeyed(this.#client, {
          ...{ kind, window, leftOut: new Set(), isRepair: true, isWhole: this.#isWhole },
        })
        replaced += differences.filter(({ impossible }) => impossible === null).length
      }
      if (replaced === 0) return
    }
    const { firstBlock, lastBlock } = window
    throw new FatalError(
      'VERIFY_UNFINISHED',
      `derived columns of blocks ${firstBlock} to ${lastBlock} still change after ${MOST_PASSES} computations; nothing was repaired`,
    )
  }

  /** Returns the keys of the rows of the database that differ from the chain. */
  async #compareKind(
    kind: SealedKind,
    window: ReplayedWindow,
    leftOut: ReadonlySet<string>,
  ): Promise<Set<string>> {
    const compared = await compareKeyed(this.#client, {
      ...{ kind, window, leftOut, isRepair: this.#isRepair, isWhole: this.#isWhole },
    })
    const counts = this.#counts[kind.name]!
    for (const count of ['rows', 'partly', 'skipped'] as const) counts[count] += compared[count]
    counts.skipped += leftOut.size
    this.#note(kind, compared.differences)
    await this.#keepKeys(kind, compared.settled)
    if (kind.name === 'market.auctions') askForTrades(window, this.#handlers, compared.settled)
    return new Set(compared.differences.map(({ key }) => key))
  }

  async #keepKeys({ name }: SealedKind, keys: readonly string[]): Promise<void> {
    if (keys.length > 0)
      await this.#client.query('INSERT INTO pg_temp.replayed_keys SELECT $1, unnest($2::text[])', [
        name,
        keys,
      ])
  }

  #notCompared(): string[] {
    const sum = (count: 'partly' | 'skipped') =>
      Object.values(this.#counts).reduce((total, counts) => total + counts[count], 0)
    const [partly, skipped] = [sum('partly'), sum('skipped')]
    return [
      ...(partly === 0
        ? []
        : [
            `${partly} rows also depend on later blocks: of these rows, only the columns that are set when a row is added were compared`,
          ]),
      ...(skipped === 0
        ? []
        : [
            `${skipped} rows were not compared: later blocks change them again, or they were added before the history of the reader begins, or they follow from a row that differs`,
          ]),
      'columns that later blocks change: names and traits of listings, assets of links, and whether a traded asset is burned; `pronghorn verify` recomputes these columns',
      'rows that are not history, such as owners, open listings and settings: `pronghorn verify` compares them with the chain',
    ]
  }
}

const TRADES = 'market.trades'

const isAppended = ({ blocks, order, sources }: SealedKind): boolean =>
  blocks !== null || (order.length === 1 && order[0] === sources[0]!.position && order[0] === 't."first_seq"')

/** Requests the trades of settled auctions. Auctions end by the clock, so no action of a block requests them. */
function askForTrades(
  { unit }: ReplayedWindow,
  handlers: readonly Handler[],
  auctions: readonly string[],
): void {
  const derivation = handlers
    .flatMap(({ derived }) => derived ?? [])
    .find(({ name }) => name === 'trades of auctions')
  if (derivation?.kind !== 'derivation') return
  for (const auction of auctions) unit.recheck(derivation, BigInt(auction))
}

function createFamilies({ contracts, name }: ReaderSettings): Handler[] {
  return sortFamilies(
    contracts.flatMap((entry) =>
      createStateWriter(entry, name) === null ? (createHandler(entry, contracts) ?? []) : [],
    ),
  )
}
