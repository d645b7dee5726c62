import { bind, raw, sql } from '../../../sql/index.ts'
import type { Sql, SqlValue } from '../../../sql/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import { nothing } from '../../../planner/filters/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import type { ResolvedTemplates } from '../../nft/filters/index.ts'
import type { ListingKind, ListingTable } from './listing-table.ts'
import type { NamedTemplates } from './named-templates.ts'
import { hasTerm } from './terms.ts'
import type { ListingValues } from '../parameters.ts'

/** Input of the filters of a request for listings. */
export interface ListingRequest {
  readonly table: ListingTable
  readonly values: ListingValues
  readonly attributes: readonly AttributeFilter[]
  /** States of the list; undefined for all. */
  readonly states: readonly number[] | undefined
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
  /** Templates that filters on templates select. */
  readonly templates: ResolvedTemplates
  /** Templates that searches in names select. */
  readonly named: NamedTemplates | undefined
  /** Templates that are hidden with the listings of their assets. */
  readonly hidden: readonly number[]
  readonly statistics: Statistics
}

/** A list of one kind of listing. */
export interface ListingQuery {
  readonly kind: ListingKind
  /** States of a request that names none; undefined = all. */
  readonly standard?: readonly number[] | undefined
}

/** The states that a request names; numbers too large for any state are left out. Undefined when it names none. */
export function wantedStates(values: ListingValues): readonly number[] | undefined {
  return values.state?.filter((state) => state >= 0n && state <= 100n).map(Number)
}

/** Each value once. */
export function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)]
}

/** A column of the row has one of some values. */
function inColumn(column: string, values: readonly SqlValue[], type: string): Sql {
  const named = raw(`l.${column}`)
  return values.length === 1
    ? sql`${named} = ${bind(values[0]!, type)}`
    : sql`${named} = ANY(${bind(values.map(String), `${type}[]`)})`
}

/** The table of a list, and its statistics. */
interface FilteredTable {
  readonly table: Pick<ListingTable, 'table' | 'terms'>
  readonly statistics: Statistics
}

/** A column that is filtered. */
export interface FilteredColumn {
  readonly column: string
  /** Name of the filter, if it is not that of the column. */
  readonly name?: string
  /** Default: text. */
  readonly type?: string
  /** Indexed terms of the values, if the index of the terms has the column. */
  readonly terms?: readonly number[]
}

/** A filter by the values of a column, which an index has in front, or as terms. */
export function columnFilter(
  { table: { table, terms: allTerms }, statistics }: FilteredTable,
  { column, name = column, type = 'text', terms }: FilteredColumn,
  given: readonly (string | number | bigint)[],
): Filter {
  if (given.length === 0) return nothing(name)
  const values = distinct(given)
  const condition = inColumn(column, values, type)
  return {
    name,
    condition,
    ...(terms ? { found: sql`${hasTerm(allTerms, terms)} AND ${condition}` } : {}),
    rows: statistics.equal(table, column, values),
    equals: { column, values, type, count: values.length },
    columns: [column],
    isIndexed: true,
  }
}

/** Share of the rows from which on a filter is common, and from which on an index finds them slower than reading all does. */
const COMMON = 0.1
const MOST = 0.5

/**
 * The filters, those that are common without how an index finds their rows: it takes longer than checking what rarer ones
 * find, or all rows where even the rarest has most of them.
 */
export function withoutCommon(filters: readonly Filter[], rows: number): Filter[] {
  const rarest = Math.min(...filters.filter(({ isIndexed }) => isIndexed).map((filter) => filter.rows))
  return filters.map((filter) => {
    const least = filter.rows === rarest ? MOST : COMMON
    if (filter.found === undefined || filter.rows < least * rows) return filter
    const { found: _, ...checked } = filter
    return { ...checked, isIndexed: false }
  })
}

/** The state is one of all: indexes of sales begin with it. */
export function ofAnyState({ table, states }: ListingRequest, condition: Sql): Sql {
  if (!table.states || states) return condition
  return sql`l.state = ANY(${raw(`'{${table.states.join(',')}}'`)}) AND ${condition}`
}
