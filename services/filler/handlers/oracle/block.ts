import { parseSymbol, parseTimeMicroseconds } from '../../../core/antelope/index.ts'
import type { RowSink } from '../../rows/operations.ts'
import type { BlockInfo, BlockScope, BlockStart } from '../handler.ts'
import type { DatapointState, OracleAction, OracleRowEvent, PairState } from './contract.ts'
import type { OracleState } from './state.ts'
import { oracleTables } from '../../../core/model/tables/index.ts'

/** A data point that this block wrote. */
interface Written {
  readonly id: bigint
  readonly owner: string
  readonly value: bigint
  readonly median: bigint
  readonly timeMs: bigint
  /** Time of the data point that was overwritten; 0 if there was none. */
  readonly replacedMs: bigint
}

/**
 * Records the number of decimal places that a pair's medians had before a block changed it; null if the pair did not
 * exist.
 */
export type NoteTerms = (sink: RowSink, pair: string, precision: number | null, untilBlock: number) => void

/** Maximum of the database column for decimal places. Real pairs have fewer than ten decimal places. */
const GREATEST_PRECISION = 2n ** 31n - 1n

interface OracleBlockStart extends BlockStart<OracleState> {
  readonly warn: (message: string) => void
  readonly noteTerms: NoteTerms
}

/** Applies one block of the oracle contract. */
export class OracleBlock implements BlockScope<OracleState, OracleAction, OracleRowEvent> {
  readonly #block: BlockInfo
  readonly #state: OracleState
  readonly #sink: RowSink
  readonly #warn: (message: string) => void
  readonly #noteTerms: NoteTerms
  readonly #rings = new Map<string, Map<bigint, bigint>>()
  /** Decimal places of the medians of each known oracle pair, updated by the block. */
  #precisions: ReadonlyMap<string, number>
  readonly #written = new Map<string, Written[]>()
  /** Last `write` action of the block for each pair. */
  readonly #lastWrites = new Map<string, { owner: string; value: bigint }>()

  constructor({ block, state, sink, warn, noteTerms }: OracleBlockStart) {
    this.#block = block
    this.#state = state
    this.#precisions = state.precisions
    this.#sink = sink
    this.#warn = warn
    this.#noteTerms = noteTerms
  }

  action(event: OracleAction): void {
    const { owner, quotes } = event.data
    for (const { pair, value } of quotes) this.#lastWrites.set(pair, { owner, value })
  }

  row(event: OracleRowEvent): void {
    if (event.table === 'pairs') this.#pair(event.value(), event.present)
    else this.#datapoint(event.scope(), event.value(), event.present)
  }

  end(): OracleState {
    for (const [pair, points] of this.#written) {
      const newest = pickNewest(points, this.#lastWrites.get(pair))
      const known = [...(this.#state.rings.get(pair)?.values() ?? [])]
      // Do not change the median if the newest point of this block is older than a stored point, or if the ring slot of
      // the point has no price yet (time 0).
      if (newest.timeMs === 0n || known.some((timeMs) => timeMs > newest.timeMs)) continue
      if (!this.#precisions.has(pair)) {
        this.#warn(
          `the oracle pair ${pair} is unknown, because it was added before the first block: sales with this pair have no price. The reader reads the pair at its next start if the chain node answers over HTTP`,
        )
        continue
      }
      this.#sink.patch(
        oracleTables.pairs,
        { pair_name: pair },
        {
          median: newest.median,
          median_time: newest.timeMs,
          updated_at_time: this.#block.timeMs,
          updated_at_block: this.#block.num,
        },
      )
    }
    const { rings } = this.#state
    return {
      rings: this.#rings.size === 0 ? rings : new Map([...rings, ...this.#rings]),
      precisions: this.#precisions,
    }
  }

  #pair(value: PairState, present: boolean): void {
    if (!present) {
      this.#changeTerms(value.name, null)
      this.#sink.remove(oracleTables.pairs, { pair_name: value.name })
      return
    }
    const base = parseSymbol(value.base_symbol)
    const quote = parseSymbol(value.quote_symbol)
    const precision = Number(
      value.quoted_precision < GREATEST_PRECISION ? value.quoted_precision : GREATEST_PRECISION,
    )
    this.#changeTerms(value.name, precision)
    this.#sink.upsert(oracleTables.pairs, {
      pair_name: value.name,
      median: null,
      median_time: null,
      median_precision: precision,
      base_symbol: base.symbol,
      base_precision: base.precision,
      base_type: value.base_type,
      base_contract: value.base_contract,
      quote_symbol: quote.symbol,
      quote_precision: quote.precision,
      quote_type: value.quote_type,
      quote_contract: value.quote_contract,
      active: value.active,
      bounty_awarded: value.bounty_awarded,
      bounty_edited_by_custodians: value.bounty_edited_by_custodians,
      proposer: value.proposer,
      bounty_amount: value.bounty_amount,
      approving_custodians: value.approving_custodians,
      approving_oracles: value.approving_oracles,
      updated_at_time: 0,
      updated_at_block: 0,
    })
  }

  /** Updates the decimal places of a pair. A precision of null means that the pair was removed. */
  #changeTerms(pair: string, precision: number | null): void {
    const former = this.#precisions.get(pair) ?? null
    if (precision === former) return
    const precisions = new Map(this.#precisions)
    if (precision === null) precisions.delete(pair)
    else precisions.set(pair, precision)
    this.#precisions = precisions
    this.#noteTerms(this.#sink, pair, former, this.#block.num)
  }

  #datapoint(pair: string, value: DatapointState, present: boolean): void {
    const ring = this.#ringOf(pair)
    if (!present) {
      ring.delete(value.id)
      this.#sink.remove(oracleTables.datapoints, { pair_name: pair, id: value.id })
      return
    }
    const timeMs = parseTimeMicroseconds(value.timestamp) / 1000n
    const points = this.#written.get(pair)
    const point = { ...value, timeMs, replacedMs: ring.get(value.id) ?? 0n }
    if (points) points.push(point)
    else this.#written.set(pair, [point])
    ring.set(value.id, timeMs)
    this.#sink.upsert(oracleTables.datapoints, {
      pair_name: pair,
      id: value.id,
      value: value.value,
      median: value.median,
      point_time: timeMs,
      owner: value.owner,
    })
  }

  /**
   * Ring buffer of the pair's data points (id to time), as updated by this block; copied from the state on first use.
   */
  #ringOf(pair: string): Map<bigint, bigint> {
    let ring = this.#rings.get(pair)
    if (!ring) {
      ring = new Map(this.#state.rings.get(pair))
      this.#rings.set(pair, ring)
    }
    return ring
  }
}

/**
 * Finds the data point that the last `write` action of a block wrote. All writes of a block have the same time.
 * Candidates are the points with owner and value of the last `write` action.
 *
 * Each write overwrites the oldest stored point. Among equally old points, a write overwrites the point with the lowest
 * id. So the last write overwrote the newest of the overwritten points.
 */
function pickNewest(
  points: readonly Written[],
  lastWrite: { owner: string; value: bigint } | undefined,
): Written {
  const timeMs = points.reduce((latest, point) => (point.timeMs > latest ? point.timeMs : latest), 0n)
  const latest = points.filter((point) => point.timeMs === timeMs)
  const last = latest.filter((point) => point.owner === lastWrite?.owner && point.value === lastWrite.value)
  return (last.length > 0 ? last : latest).reduce((best, point) =>
    point.replacedMs > best.replacedMs || (point.replacedMs === best.replacedMs && point.id > best.id)
      ? point
      : best,
  )
}
