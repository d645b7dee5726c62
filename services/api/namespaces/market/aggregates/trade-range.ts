import { bind, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { TimeValues } from './parameters.ts'

export const DAY_MS = 86_400_000

/** A range of trade times, and the whole UTC days within the range. Times are in ms since 1970. */
export interface TradeRange {
  /** Start of the range, inclusive. */
  readonly from: number
  /** End of the range, exclusive. */
  readonly until: number
  /**
   * Whole days in the range, as days since 1970: from `first` (inclusive) to `last` (exclusive). If `first >= last`,
   * the range contains no whole day.
   */
  readonly days: readonly [first: number, last: number]
}

/**
 * The latest time that a range can reach, ms since 1970. Every time on chain is earlier. JavaScript numbers represent
 * the value exactly.
 */
const END_OF_TIME = 2 ** 52

/**
 * Range of trade times between the parameters `after` and `before`, both exclusive. Undefined if the request has
 * neither parameter.
 */
export function tradeRange(values: TimeValues): TradeRange | undefined {
  const { before, after } = values
  if (before === undefined && after === undefined) return undefined
  const from = Math.min((after ?? -1) + 1, END_OF_TIME)
  const until = Math.min(before ?? END_OF_TIME, END_OF_TIME)
  return { from, until, days: [Math.ceil(from / DAY_MS), Math.floor(until / DAY_MS)] }
}

/** SQL conditions: the time in the column `column` is within the range. */
export function inRange(column: string, { from, until }: TradeRange): Sql[] {
  return [sql`${raw(column)} >= ${bind(from, 'bigint')}`, sql`${raw(column)} < ${bind(until, 'bigint')}`]
}

/** SQL conditions: the day in the column `column` (days since 1970) is one of the whole days in the range. */
export function inWholeDays(column: string, { days }: TradeRange): Sql[] {
  return [sql`${raw(column)} >= ${bind(days[0], 'bigint')}`, sql`${raw(column)} < ${bind(days[1], 'bigint')}`]
}

/**
 * Parts of a range that are not whole days: the part before the first whole day, and the part after the last whole day.
 * Empty parts are left out. If the range contains no whole day, the only part is the range.
 */
export function edgesOf(range: TradeRange): readonly TradeRange[] {
  const { from, until, days } = range
  const [first, last] = days
  if (first >= last) return [range]
  const edges = [
    { ...range, from, until: first * DAY_MS },
    { ...range, from: last * DAY_MS, until },
  ]
  return edges.filter((edge) => edge.from < edge.until)
}
