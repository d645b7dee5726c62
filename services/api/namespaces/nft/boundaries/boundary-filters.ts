import { allOf, bind, bindIds, bindIntegers, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { NEVER } from '../../../planner/filters/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import { keyAtTime } from './key-at-time.ts'
import type { TimedTable } from './key-at-time.ts'
import type { BoundaryValues } from './parameters.ts'

/** The columns that `ids`, the key, `lower_bound`, `upper_bound`, `before` and `after` compare. */
export interface BoundedTable {
  /** Schema-qualified name, as statistics know it. */
  readonly table: string
  readonly alias: string
  readonly key: string
  /** Type of the key. */
  readonly type: 'bigint' | 'integer' | 'text'
  /** Time that `before` and `after` compare: a column, or another table that maps times to keys. */
  readonly time?: { readonly column: string } | { readonly keysOf: TimedTable }
}

/**
 * Filters of `ids`, the key, `lower_bound`, `upper_bound`, `before` and `after`.
 * @param named values of the key parameter, united with `ids`.
 */
export function boundaryFilters(
  values: BoundaryValues,
  statistics: Statistics,
  bounded: BoundedTable,
  named?: readonly (bigint | string)[],
): Filter[] {
  return [
    ...keyFilter(values.ids, named, bounded),
    ...boundFilter(values, statistics, bounded),
    ...timeFilter(values, statistics, bounded),
  ]
}

function keyFilter(
  ids: BoundaryValues['ids'],
  named: BoundaryValues['ids'],
  { alias, key, type }: BoundedTable,
): Filter[] {
  const lists = [ids, named].filter((list) => list !== undefined)
  if (lists.length === 0) return []
  const keys = [...new Set(lists.flat())]
  const column = raw(`${alias}.${key}`)
  const bound =
    type === 'text'
      ? bind(keys as string[], 'text[]')
      : type === 'integer'
        ? bindIntegers(keys as bigint[])
        : bindIds(keys as bigint[])
  return [
    {
      name: `ids, ${key}`,
      condition: keys.length === 0 ? NEVER : sql`${column} = ANY(${bound})`,
      rows: keys.length,
      equals: { column: key, values: keys, type, count: keys.length },
      columns: [key],
      isIndexed: true,
    },
  ]
}

function boundFilter(values: BoundaryValues, statistics: Statistics, bounded: BoundedTable): Filter[] {
  const { table, alias, key, type } = bounded
  const { lower_bound: lower, upper_bound: upper } = values
  if (lower === undefined && upper === undefined) return []
  // A bound may exceed the column's type; the comparison then uses 64 bits.
  const cast = type === 'text' ? 'text' : 'bigint'
  const column = raw(`${alias}.${key}`)
  const bounds: Sql[] = []
  if (lower !== undefined) bounds.push(sql`${column} >= ${bind(lower, cast)}`)
  if (upper !== undefined) bounds.push(sql`${column} < ${bind(upper, cast)}`)
  const number = (value: string | number | undefined): bigint | undefined =>
    value === undefined ? undefined : BigInt(value)
  const rows =
    type === 'text'
      ? statistics.rows(table) / 3
      : statistics.between(table, key, number(lower), upper === undefined ? undefined : BigInt(upper) - 1n)
  return [
    {
      name: 'lower_bound, upper_bound',
      condition: allOf(bounds),
      rows,
      range: { column: key },
      columns: [key],
      isIndexed: true,
    },
  ]
}

function timeFilter(values: BoundaryValues, statistics: Statistics, bounded: BoundedTable): Filter[] {
  const { table, alias, key, time } = bounded
  const { before, after } = values
  if (!time || (before === undefined && after === undefined)) return []
  const low = after === undefined ? undefined : BigInt(after) + 1n
  const high = before === undefined ? undefined : BigInt(before) - 1n
  const bounds: Sql[] = []
  if ('column' in time) {
    const column = raw(`${alias}.${time.column}`)
    if (before !== undefined) bounds.push(sql`${column} < ${bind(before, 'bigint')}`)
    if (after !== undefined) bounds.push(sql`${column} > ${bind(after, 'bigint')}`)
  } else {
    const column = raw(`${alias}.${key}`)
    if (before !== undefined) bounds.push(sql`${column} < ${keyAtTime(time.keysOf, before)}`)
    if (after !== undefined) bounds.push(sql`${column} >= ${keyAtTime(time.keysOf, after + 1)}`)
  }
  const rows =
    'column' in time
      ? statistics.between(table, time.column, low, high)
      : (statistics.rows(table) * statistics.between(time.keysOf.table, time.keysOf.time, low, high)) /
        statistics.rows(time.keysOf.table)
  const column = 'column' in time ? time.column : key
  return [
    {
      name: 'before, after',
      condition: allOf(bounds),
      rows,
      range: { column },
      columns: [column],
      isIndexed: true,
    },
  ]
}
