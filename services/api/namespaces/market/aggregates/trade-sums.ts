import { allOf, bind, joinSql, raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { TradeRange } from './trade-range.ts'
import { edgesOf, inRange, inWholeDays } from './trade-range.ts'

/**
 * Input of `sumInRange`: grouping column, conditions and counter tables. Conditions use the SQL alias `k` for the
 * trades and for the counters.
 */
export interface TradeSum {
  /** Condition on the token in which the price was paid. */
  readonly token: Sql
  /**
   * Column by which the sums are grouped: a column of both market.trades and the table `days`. `day` stands for the UTC
   * day of a trade.
   */
  readonly key: string
  /** Conditions in addition to `token`, on columns that both market.trades and the table `days` have. */
  readonly conditions: readonly Sql[]
  /**
   * Conditions that only the query of market.trades needs: trades that fail these conditions are not counted in the
   * table `days`.
   */
  readonly ofTrades?: readonly Sql[]
  /**
   * Table with the sums of the trades of each day (day counters). The table must have the column `key` and all columns
   * of `conditions`. Choose the table with the fewest columns: it has the fewest rows.
   */
  readonly days: string
  /**
   * Table with the sums of the trades of all days together; its columns are the columns of the table `days` without
   * `day`. If a range has more than half of all days, the sum of the range is computed as the total minus the days
   * outside the range.
   */
  readonly totals?: string
}

/**
 * UTC day of a trade, as days since 1970. Indexes of market.trades contain exactly this expression. PostgreSQL would
 * not use the indexes for another expression.
 */
export const TRADE_DAY = '(k.trade_time / 86400000)'

/**
 * Query of the number and sum of the trades in a range: whole days from the day counters, partial days from
 * market.trades.
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
 * UNION branches whose rows add up to the sums of the whole days in a range. If the range has more than half of all
 * days and `totals` is given, the rows are the totals of all days and, with negative numbers, the day counters outside
 * the range. Otherwise the rows are the day counters of the range.
 */
function sumOfDays({ token, key, conditions, days, totals }: TradeSum, range: TradeRange): Sql[] {
  const counters = (sign: '' | '-', when: Sql[]): Sql => sql`SELECT k.${raw(key)} AS key,
      ${raw(sign)}k.trades, ${raw(sign)}k.volume FROM ${raw(days)} k ${where([token, ...conditions, ...when])}`
  const inside = inWholeDays('k.day', range)
  if (totals === undefined) return [counters('', inside)]
  const [first, last] = range.days.map((day) => bind(day, 'bigint'))
  // `isMost` is true if the range has more than half of all days. The subquery in `isMost` refers to no column of the
  // SELECTs of the UNION. So PostgreSQL evaluates `isMost` once, and does not run a SELECT whose condition on `isMost`
  // is false.
  const isMost = sql`(SELECT 2 * (least(${last!}, max(k.day) + 1) - greatest(${first!}, min(k.day))) > max(k.day) + 1 - min(k.day)
      FROM ${raw(days)} k ${where([token])})`
  return [
    counters('', [...inside, sql`${isMost} IS NOT TRUE`]),
    sql`SELECT k.${raw(key)}, k.trades, k.volume FROM ${raw(totals)} k ${where([token, ...conditions, isMost])}`,
    counters('-', [sql`NOT (${allOf(inside)})`, isMost]),
  ]
}
