import { raw, Sql } from '../../sql/index.ts'
import type { SqlValue } from '../../sql/index.ts'
import { BITMAP_COST, HEAP_COST } from '../costs/index.ts'

/** Equality condition: a column must have one of these values. */
export interface EqualValues {
  readonly column: string
  /** The values, or a query with one column `value` that returns each value once. */
  readonly values: readonly SqlValue[] | Sql
  /** SQL type of a single value, for example `text`. */
  readonly type: string
  /** Number of values; an estimate if a query returns them. */
  readonly count: number
}

/** Another table that leads to the rows that match a filter. */
export interface Through {
  /** FROM item of the rows that match the filter, each once, under the alias of the list's table. */
  readonly from: Sql
  /** Cost of finding the rows, without reading them, in units of one visited row. */
  readonly visits: number
}

/** One of the disjoint parts of a filter. */
export interface FilterPart {
  /** The part as a filter of its own. An index may serve a part even if no index serves the whole filter. */
  readonly filter: Filter
  /**
   * Condition that excludes the rows of the preceding parts of the filter. Nearly all rows of this part meet the
   * condition.
   */
  readonly apart?: Sql
}

/** One condition on the rows of a list. SQL conditions, row estimates and access paths all derive from filters. */
export interface Filter {
  /** Names of the request parameters that the filter applies. The logged reason for an access path shows the names. */
  readonly name: string
  /** Condition that checks a row that was found by another filter. */
  readonly condition: Sql
  /** Equivalent condition in a form that an index serves, if `condition` is not in that form. */
  readonly found?: Sql
  /** Estimated rows of the table that match the filter. */
  readonly rows: number
  /** Set if the condition is exactly `column IN (values)`: an index may serve it. */
  readonly equals?: EqualValues
  /**
   * Further columns that `found` compares with one value each, in addition to the column of `equals`. A prepared
   * statement then uses the index that begins with all these columns. Set only if a request filters assets by owner and
   * by template.
   * Without `alsoEqual`, such statements are planned for each request. Measured 2026-11-29 by `traffic.js --factor 0.2
   * --only 'owner, template' --samples 200`: 3.6 ms of processor time (p50) instead of 4.7 ms for a page, 1.1 ms
   * instead of 1.9 ms for the count.
   */
  readonly alsoEqual?: readonly string[]
  /**
   * Set if the condition bounds this column from below or above: an index ordered by the column serves the bound.
   * Further parts of the condition exclude few rows.
   */
  readonly range?: { readonly column: string }
  /** Columns of the list's table that the condition reads. Undefined if it reads other tables or if that is unknown. */
  readonly columns?: readonly string[]
  /** Whether an index, or another table (`through`), finds the rows by this condition alone. */
  readonly isIndexed: boolean
  /**
   * Cost of the search in other tables that `found` (the index condition) runs before rows of the list are read. Unit:
   * one visited row. Default 0: `found` searches no other table.
   */
  readonly finding?: number
  /**
   * Set if no index of the list's table finds the matching rows, but another table finds them. `isIndexed` is then
   * true.
   */
  readonly through?: Through
  /** Name of another filter that implies this filter: rows that match the other filter need no check of this filter. */
  readonly impliedBy?: string
  /** Rows of other tables that one check of this condition visits. Default 0. */
  readonly visits?: number
  /** The filter as disjoint parts: a scan may read each part on its own, and a count adds the parts up. */
  readonly parts?: readonly FilterPart[]
  /**
   * Filters of one group imply each other: rows that match all of them are the rows that match the strictest. Filters
   * without a group are assumed to be independent.
   */
  readonly group?: string
}

/** Condition that no row matches. */
export const NEVER = raw('FALSE')

/** A filter that no row matches. */
export function nothing(name: string): Filter {
  const equals = { column: '', values: [], type: 'text', count: 0 }
  return { name, condition: NEVER, rows: 0, equals, isIndexed: true }
}

/** Whether the filters exclude every row. */
export function isImpossible(filters: readonly Filter[]): boolean {
  return filters.some(({ equals }) => equals?.count === 0)
}

/**
 * Whether one prepared plan suits all values of the filters: there is at most one filter, with one value, or the
 * filters give one value each to the leading columns of an index.
 */
export function haveOnePlan(
  filters: readonly Filter[],
  indexes: readonly { readonly columns: readonly string[] }[],
): boolean {
  if (filters.length <= 1) return filters.every(({ equals }) => equals?.count === 1)
  const equal = new Set<string>()
  for (const { equals, alsoEqual = [] } of filters) {
    if (!equals || !isOneValue(equals)) return false
    for (const column of [equals.column, ...alsoEqual]) equal.add(column)
  }
  return indexes.some(({ columns }) => columns.slice(0, equal.size).every((column) => equal.has(column)))
}

/** Whether the column is compared with one constant (not with a query). */
export function isOneValue({ values, count }: EqualValues): boolean {
  return !(values instanceof Sql) && count === 1
}

/** Estimated rows that match all filters, of `rows` in the table. */
export function estimateRows(rows: number, filters: readonly Filter[]): number {
  if (rows <= 0) return 0
  const groups = new Map<string, number>()
  let share = 1
  for (const filter of filters) {
    const own = Math.min(1, filter.rows / rows)
    if (filter.group === undefined) share *= own
    else groups.set(filter.group, Math.min(own, groups.get(filter.group) ?? 1))
  }
  for (const own of groups.values()) share *= own
  return rows * share
}

/** Returns the filters that no other filter of the list implies. */
export function withoutImplied(filters: readonly Filter[]): Filter[] {
  const names = new Set(filters.map(({ name }) => name))
  return filters.filter(({ impliedBy }) => impliedBy === undefined || !names.has(impliedBy))
}

/**
 * Replaces the condition of a filter by `found`, its equivalent form that an index serves, if the filter has this form.
 */
export function asFound(filter: Filter): Filter {
  return filter.found ? { ...filter, condition: filter.found } : filter
}

/** Whether the filter, in the form that an index serves, reads only the given columns of the list's table. */
export function isWithin(
  { found, equals, alsoEqual = [], columns }: Filter,
  has: ReadonlySet<string>,
): boolean {
  const read = found && equals ? [equals.column, ...alsoEqual] : columns
  return read?.every((column) => has.has(column)) === true
}

/** SQL conditions for finding the rows that match all filters. */
export function foundConditions(filters: readonly Filter[]): Sql[] {
  const needed = withoutImplied(filters)
  return needed.map((filter) => conditionAmong(filter, needed))
}

/**
 * Chooses the condition of a filter for a query with other filters. Prefers `found`, which an index serves. Returns
 * `condition` if reading the index costs more than checking all rows of the most selective other filter. PostgreSQL
 * would read the index even then, because its row estimates are less exact.
 */
export function conditionAmong(filter: Filter, filters: readonly Filter[]): Sql {
  const { condition, found, alsoEqual, rows, finding = 0, visits = 0 } = filter
  const others = filters.filter((each) => each.isIndexed && each !== filter)
  const least = Math.max(1, Math.min(...others.map((each) => each.rows)))
  const isWeak = BITMAP_COST * rows + HEAP_COST * finding > HEAP_COST * least * Math.max(1, visits)
  return found === undefined || (alsoEqual === undefined && isWeak) ? condition : found
}
