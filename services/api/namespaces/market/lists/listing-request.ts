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

/** The states that a request names, without numbers too large for a state. Undefined if it names none. */
export function wantedStates(values: ListingValues): readonly number[] | undefined {
  return values.state?.filter((state) => state >= 0n && state <= 100n).map(Number)
}

/** The values without duplicates. */
export function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)]
}

/** Condition: the column has one of the values. */
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
  /** Indexed terms of the values, if the GIN index on the terms covers the column. */
  readonly terms?: readonly number[]
}

/** A filter by the values of a column that leads an index, or whose values are indexed terms. */
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

/**
 * From COMMON of the rows on, checking the rows of a rarer filter is cheaper than an index scan for this filter. From
 * MOST of the rows on, a scan of the table is cheaper.
 */
const COMMON = 0.1
const MOST = 0.5

/** The filters; common ones lose their index condition. See COMMON and MOST. */
export function withoutCommon(filters: readonly Filter[], rows: number): Filter[] {
  const rarest = Math.min(...filters.filter(({ isIndexed }) => isIndexed).map((filter) => filter.rows))
  return filters.map((filter) => {
    const least = filter.rows === rarest ? MOST : COMMON
    if (filter.found === undefined || filter.rows < least * rows) return filter
    const { found: _, ...checked } = filter
    return { ...checked, isIndexed: false }
  })
}

/** Adds a condition on the state that every row meets: indexes of sales are led by the state. */
export function ofAnyState({ table, states }: ListingRequest, condition: Sql): Sql {
  if (!table.states || states) return condition
  return sql`l.state = ANY(${raw(`'{${table.states.join(',')}}'`)}) AND ${condition}`
}
