import { raw, Sql } from '../../sql/index.ts'
import type { SqlValue } from '../../sql/index.ts'
import { BITMAP_COST, HEAP_COST } from '../costs.ts'

/** Values that a column must have one of. */
export interface EqualValues {
  readonly column: string
  /** The values, or a query of them in one column `value`, each once. */
  readonly values: readonly SqlValue[] | Sql
  /** SQL type of one value, for example `text`. */
  readonly type: string
  /** Number of values; estimated where a query returns them. */
  readonly count: number
}

/** Rows that are found through those of another table. */
export interface Through {
  /** FROM item of the rows that match the filter, each once, under the alias of the list's table. */
  readonly from: Sql
  /** What finding them costs before they are visited, in visited rows. */
  readonly visits: number
  /** The same for the rows with the greatest keys: at least `wanted` of them where there are so many. */
  readonly last?: {
    readonly from: (wanted: number) => Sql
    readonly visits: (wanted: number) => number
  }
}

/** One of several disjoint parts of a filter. */
export interface FilterPart {
  /** Condition of this part; an index may serve it and not the whole filter. */
  readonly filter: Filter
  /** Excludes rows of the other parts: nearly all rows match it. */
  readonly apart?: Sql
}

/** One condition on the rows of a list. Conditions, estimates and access paths all come from these. */
export interface Filter {
  /** Names of the request's parameters, for the planner's reason. */
  readonly name: string
  /** The whole condition, as rows are checked by it. */
  readonly condition: Sql
  /** The same as rows are found by it, where that is spelled otherwise: an index serves it. */
  readonly found?: Sql
  /** Estimated rows of the table that match it. */
  readonly rows: number
  /** Set where the condition means no more than that a column has one of some values: an index may serve it. */
  readonly equals?: EqualValues
  /** Columns that `found` compares with one value each, in addition to that of `equals`. */
  readonly alsoEqual?: readonly string[]
  /** Set where the condition means bounds of a column, and little more: an index in the order of the column serves it. */
  readonly range?: { readonly column: string }
  /** Columns that the condition reads, where these are all of the table's own; undefined reads anything. */
  readonly columns?: readonly string[]
  /** Whether an index finds the rows by this condition alone. */
  readonly isIndexed: boolean
  /** What its rows cost to be found before they are visited, in visited rows, where `found` searches other tables. Default 0. */
  readonly finding?: number
  /** Set where no index finds the rows, but another table leads to them; `isIndexed` is then true. */
  readonly through?: Through
  /** Name of a filter that it follows from: rows that match that one need not be checked. */
  readonly impliedBy?: string
  /** Whether it follows from another filter: rows that were found through another table match it. */
  readonly isImplied?: boolean
  /** Rows of other tables that checking one row visits; default none. */
  readonly visits?: number
  /** The same as disjoint parts: walks may read each part on its own, and counts add them up. */
  readonly parts?: readonly FilterPart[]
  /**
   * Filters of one group imply each other: the rows that match several of them are those that match the strictest. Without
   * a group, filters are taken for independent.
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

/** Whether no row can match. */
export function isImpossible(filters: readonly Filter[]): boolean {
  return filters.some(({ equals }) => equals?.count === 0)
}

/**
 * Whether one plan is good for all values of the filters: there is none, or one value of each of some columns with which
 * an index begins, so that it serves them whatever they are.
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

/** Whether a column has one given value. */
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

/** Filters without those that follow from others of them. */
export function withoutImplied(filters: readonly Filter[]): Filter[] {
  const names = new Set(filters.map(({ name }) => name))
  return filters.filter(({ impliedBy }) => impliedBy === undefined || !names.has(impliedBy))
}

/** Conditions of filters as rows are found by them. */
export function foundConditions(filters: readonly Filter[]): Sql[] {
  const needed = withoutImplied(filters)
  return needed.map((filter) => conditionAmong(filter, needed))
}

/**
 * How a filter is spelled beside others: so that an index serves it, unless that costs more than checking all rows that the
 * most selective other filter finds. PostgreSQL, which knows less of the values, would do it.
 */
export function conditionAmong(filter: Filter, filters: readonly Filter[]): Sql {
  const { condition, found, alsoEqual, rows, finding = 0, visits = 0 } = filter
  const others = filters.filter((each) => each.isIndexed && each !== filter)
  const least = Math.max(1, Math.min(...others.map((each) => each.rows)))
  const isWeak = BITMAP_COST * rows + HEAP_COST * finding > HEAP_COST * least * Math.max(1, visits)
  return found === undefined || (alsoEqual === undefined && isWeak) ? condition : found
}
