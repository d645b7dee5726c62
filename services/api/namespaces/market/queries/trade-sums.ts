import type { Bindings } from '../../../database/index.ts'
import { whereClause } from '../../../database/index.ts'
import type { TradeRange } from './trade-range.ts'
import { edgesOf, inRange, inWholeDays } from './trade-range.ts'

/** What trades are summed by: expressions over the columns that trades and their days have in common; `k` is the row. */
export interface TradeSum {
  /** Token placeholder. */
  readonly token: string
  /** The sums' first column, `key`, and further ones by name. */
  readonly by: string
  readonly further?: readonly string[]
  /** Further conditions on those columns. */
  readonly conditions: readonly string[]
  /** The sums of days that have all of those columns; the fewer else, the fewer rows. */
  readonly days: 'market.trade_days' | 'market.marketplace_days' | 'market.collection_days'
}

/** Day of a trade, as its index has it. */
export const TRADE_DAY = '(k.trade_time / 86400000)'

/**
 * Number and sum of the trades in a range: whole days from the sums that are kept, the rest from the trades.
 * @returns a SELECT of `key`, further columns, `trades`, `volume`.
 */
export function sumInRange(
  { token, by, further = [], conditions, days }: TradeSum,
  range: TradeRange,
  bindings: Bindings,
): string {
  const ofToken = [`k.token_symbol = ${token}`, ...conditions]
  const more = further.map((name) => `k.${name}, `).join('')
  const rows = edgesOf(range).map(
    (
      edge,
    ) => `SELECT ${by.replaceAll('k.day', TRADE_DAY)} AS key, ${more}1::bigint AS trades, k.price::numeric AS volume
      FROM market.trades k ${whereClause([...ofToken, ...inRange('k.trade_time', edge, bindings)])}`,
  )
  const [first, last] = range.days
  if (first < last) {
    rows.push(`SELECT ${by} AS key, ${more}k.trades, k.volume FROM ${days} k
      ${whereClause([...ofToken, ...inWholeDays('k.day', range, bindings)])}`)
  }
  const columns = further.map((name) => `r.${name}, `).join('')
  return `SELECT r.key, ${columns}sum(r.trades) AS trades, sum(r.volume) AS volume FROM (${rows.join(' UNION ALL ')}) r
    GROUP BY r.key${further.map((name) => `, r.${name}`).join('')}`
}
