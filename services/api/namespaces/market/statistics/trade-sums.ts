import { joinSql, raw, sql, where } from '../../../database/index.ts'
import type { Sql } from '../../../database/index.ts'
import type { TradeRange } from './trade-range.ts'
import { edgesOf, inRange, inWholeDays } from './trade-range.ts'

/** What trades are summed by. The row is `k`. */
export interface TradeSum {
  /** Condition on the token. */
  readonly token: Sql
  /** Column of the sums' key, which trades and their days both have; `day` for the day. */
  readonly key: string
  /** Further conditions on such columns. */
  readonly conditions: readonly Sql[]
  /** Conditions on the trades that count for the counters. */
  readonly ofTrades?: readonly Sql[]
  /** Counters that have all of those columns; the fewer others, the fewer rows. */
  readonly days: string
}

/** Day of a trade, as its index has it. */
export const TRADE_DAY = '(k.trade_time / 86400000)'

/**
 * Number and sum of the trades in a range: whole days from the counters of days, the rest from the trades.
 * @returns a query of `key`, `trades`, `volume`.
 */
export function sumInRange(
  { token, key, conditions, ofTrades = [], days }: TradeSum,
  range: TradeRange,
): Sql {
  const rows = edgesOf(range).map(
    (
      edge,
    ) => sql`SELECT ${raw(key === 'day' ? TRADE_DAY : `k.${key}`)} AS key, 1::bigint AS trades, k.price::numeric AS volume
      FROM market.trades k ${where([token, ...conditions, ...ofTrades, ...inRange('k.trade_time', edge)])}`,
  )
  const [first, last] = range.days
  if (first < last) {
    rows.push(sql`SELECT k.${raw(key)} AS key, k.trades, k.volume FROM ${raw(days)} k
      ${where([token, ...conditions, ...inWholeDays('k.day', range)])}`)
  }
  return sql`SELECT r.key, sum(r.trades) AS trades, sum(r.volume) AS volume
    FROM (${joinSql(rows, ' UNION ALL ')}) r GROUP BY r.key`
}
