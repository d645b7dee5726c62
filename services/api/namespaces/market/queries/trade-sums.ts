import type { Bindings } from '../../../database/index.ts'
import { whereClause } from '../../../database/index.ts'
import type { TradeRange } from './trade-range.ts'
import { atEdges, inWholeDays } from './trade-range.ts'

/** What trades are summed by: expressions over the columns that trades and their days have in common; `k` is the row. */
export interface TradeSum {
  /** Token placeholder. */
  readonly token: string
  readonly by: string
  /** Further conditions on those columns. */
  readonly conditions: readonly string[]
}

/** Day of a trade, as its index has it. */
export const TRADE_DAY = '(k.trade_time / 86400000)'

/**
 * Number and sum of the trades in a range: whole days from the sums that are kept, the rest from the trades.
 * @returns a SELECT of `key`, `trades`, `volume`.
 */
export function sumInRange(
  { token, by, conditions }: TradeSum,
  range: TradeRange,
  bindings: Bindings,
): string {
  const ofToken = [`k.token_symbol = ${token}`, ...conditions]
  const edges = `SELECT ${by.replaceAll('k.day', TRADE_DAY)} AS key, 1::bigint AS trades, k.price::numeric AS volume
    FROM market.trades k ${whereClause([...ofToken, atEdges('k.trade_time', range, bindings)])}`
  const [first, last] = range.days
  const rows = first >= last ? edges : `${edges} UNION ALL ${wholeDays()}`
  return `SELECT r.key, sum(r.trades) AS trades, sum(r.volume) AS volume FROM (${rows}) r GROUP BY r.key`

  function wholeDays(): string {
    return `SELECT ${by} AS key, k.trades, k.volume FROM market.trade_days k
      ${whereClause([...ofToken, ...inWholeDays('k.day', range, bindings)])}`
  }
}
