import { allOf, bind, joinSql, raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { TradeRange } from './trade-range.ts'
import { edgesOf, inRange, inWholeDays } from './trade-range.ts'

/** Key and conditions of a sum over trades. SQL alias of the trades and of the counters: `k`. */
export interface TradeSum {
  /** Condition on the token of the price. */
  readonly token: Sql
  /** Key column of the sums; trades and day counters have the same column. `day` sums by day. */
  readonly key: string
  /** Further conditions on columns that trades and day counters share. */
  readonly conditions: readonly Sql[]
  /** Conditions of a query on trades. The day counters contain no trade that fails these conditions. */
  readonly ofTrades?: readonly Sql[]
  /**
   * Table of day counters that has the key column and every column of the conditions. Prefer the table with the fewest
   * columns, because it has the fewest rows.
   */
  readonly days: string
  /**
   * Table of sums over all time, with the columns of `days` except the day. If a range has more than half of all days,
   * the sums are these totals minus the days outside the range.
   */
  readonly totals?: string
}

/** Day of a trade, in the same words as the expression of the index. */
export const TRADE_DAY = '(k.trade_time / 86400000)'

/**
 * Number and sum of the trades in a range: whole days from the day counters, partial days from the trades.
 * @returns a query of `key`, `trades`, `volume`.
 */
export function sumInRange(sum: TradeSum, range: TradeRange): Sql {
  const { token, key, conditions, ofTrades = [] } = sum
  const rows = edgesOf(range).map(
    (
      edge,
    ) => sql`SELECT ${raw(key === 'day' ? TRADE_DAY : `k.${key}`)} AS key, 1::bigint AS trades, k.price::numeric AS volume
      FROM market.trades k ${where([token, ...conditions, ...ofTrades, ...inRange('k.trade_time', edge)])}`,
  )
  const [first, last] = range.days
  if (first < last) rows.push(...sumOfDays(sum, range))
  return sql`SELECT r.key, sum(r.trades) AS trades, sum(r.volume) AS volume
    FROM (${joinSql(rows, ' UNION ALL ')}) r GROUP BY r.key HAVING sum(r.trades) > 0`
}

/**
 * Rows of the whole days of a range. If the range has more than half of all days: the totals, and the days outside the
 * range as negative rows.
 */
function sumOfDays({ token, key, conditions, days, totals }: TradeSum, range: TradeRange): Sql[] {
  const counters = (sign: '' | '-', when: Sql[]): Sql => sql`SELECT k.${raw(key)} AS key,
      ${raw(sign)}k.trades, ${raw(sign)}k.volume FROM ${raw(days)} k ${where([token, ...conditions, ...when])}`
  const inside = inWholeDays('k.day', range)
  if (totals === undefined) return [counters('', inside)]
  const [first, last] = range.days.map((day) => bind(day, 'bigint'))
  // PostgreSQL evaluates `isMost` once and skips the union branches that it excludes, because its subquery refers to no
  // row of a branch.
  const isMost = sql`(SELECT 2 * (least(${last!}, max(k.day) + 1) - greatest(${first!}, min(k.day))) > max(k.day) + 1 - min(k.day)
      FROM ${raw(days)} k ${where([token])})`
  return [
    counters('', [...inside, sql`${isMost} IS NOT TRUE`]),
    sql`SELECT k.${raw(key)}, k.trades, k.volume FROM ${raw(totals)} k ${where([token, ...conditions, isMost])}`,
    counters('-', [sql`NOT (${allOf(inside)})`, isMost]),
  ]
}
