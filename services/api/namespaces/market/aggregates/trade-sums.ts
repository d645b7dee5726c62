import { allOf, bind, joinSql, raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
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
  /** Sums over all time with the same columns, except the day; with them a long range is what is left of them without the other days. */
  readonly totals?: string
}

/** Day of a trade, as its index has it. */
export const TRADE_DAY = '(k.trade_time / 86400000)'

/**
 * Number and sum of the trades in a range: whole days from the counters of days, the rest from the trades.
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

/** Rows of the whole days of a range, or, where most days are in it, the totals and the other days as negative rows. */
function sumOfDays({ token, key, conditions, days, totals }: TradeSum, range: TradeRange): Sql[] {
  const counters = (sign: '' | '-', when: Sql[]): Sql => sql`SELECT k.${raw(key)} AS key,
      ${raw(sign)}k.trades, ${raw(sign)}k.volume FROM ${raw(days)} k ${where([token, ...conditions, ...when])}`
  const inside = inWholeDays('k.day', range)
  if (totals === undefined) return [counters('', inside)]
  const [first, last] = range.days.map((day) => bind(day, 'bigint'))
  // Each branch is entered only when the condition, which names none of its rows, holds.
  const isMost = sql`(SELECT 2 * (least(${last!}, max(k.day) + 1) - greatest(${first!}, min(k.day))) > max(k.day) + 1 - min(k.day)
      FROM ${raw(days)} k ${where([token])})`
  return [
    counters('', [...inside, sql`${isMost} IS NOT TRUE`]),
    sql`SELECT k.${raw(key)}, k.trades, k.volume FROM ${raw(totals)} k ${where([token, ...conditions, isMost])}`,
    counters('-', [sql`NOT (${allOf(inside)})`, isMost]),
  ]
}
