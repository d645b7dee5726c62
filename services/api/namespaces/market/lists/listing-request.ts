import { bind, raw, sql, joinSql, where } from '../../../sql/index.ts'
import type { Sql, SqlValue } from '../../../sql/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import { nothing } from '../../../planner/filters/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import type { ResolvedTemplates } from '../../nft/filters/index.ts'
import type { ListingKind, ListingTable } from './listing-table.ts'
import type { ListingValues } from '../parameters.ts'
import { createHash } from 'node:crypto'
import type { Session } from '../../../database/index.ts'
import { containsText, isNoneOf, isOneOf } from '../../nft/conditions/index.ts'

/** A request for listings, with the data from which the filters are created. */
export interface ListingRequest {
  readonly table: ListingTable
  readonly values: ListingValues
  readonly attributes: readonly AttributeFilter[]
  /** States of the matching listings; undefined for all states. */
  readonly states: readonly number[] | undefined
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
  /** Templates that the request's filters on template data select. */
  readonly templates: ResolvedTemplates
  /** Templates whose names match the request's search texts. */
  readonly named: NamedTemplates | undefined
  /**
   * Templates whose listings are hidden, because accounts of `hide_templates_by_accounts` own assets of the templates.
   */
  readonly hidden: readonly number[]
  readonly statistics: Statistics
}

/** A kind of listing, and the states that a list of this kind shows by default. */
export interface ListingQuery {
  readonly kind: ListingKind
  /** States of the listings if the request names no state; undefined for all states. */
  readonly standard?: readonly number[] | undefined
}

/** The states that a request names, without numbers too large for a state. Undefined if the request names no state. */
export function wantedStates(values: ListingValues): readonly number[] | undefined {
  return values.state?.filter((state) => state >= 0n && state <= 100n).map(Number)
}

/** Returns the values without duplicates. */
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

/** The table of a list, and the statistics on the rows of the table. */
interface FilteredTable {
  readonly table: Pick<ListingTable, 'table' | 'terms'>
  readonly statistics: Statistics
}

export interface FilteredColumn {
  readonly column: string
  /** Name of the filter. Default: the name of the column. */
  readonly name?: string
  /** SQL type of the column. Default: text. */
  readonly type?: string
  /** Indexed terms of the accepted values, if the GIN index has terms for the values of this column. */
  readonly terms?: readonly number[]
}

/**
 * Filter: the column has one of the given values. An index must begin with the column, or the GIN index must contain
 * `terms`, the indexed terms of these values.
 */
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
 * If a filter matches at least COMMON of the rows, an index scan for this filter costs more than checking the rows that
 * a rarer filter finds. If a filter matches at least MOST of the rows, a scan of the table is cheaper than an index
 * scan.
 */
const COMMON = 0.1
const MOST = 0.5

/**
 * Copies the filters and removes the index condition (`found`) of each filter that matches too many rows. For the
 * filter with the fewest matching rows, the limit is the share MOST of all rows. For other filters, the limit is the
 * share COMMON. A filter without an index condition checks the rows that other filters find.
 * @param rows number of rows of the table.
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

/**
 * If the request names no state, adds a condition that lists all states. PostgreSQL can then use the indexes of sales
 * whose first column is the state.
 */
export function ofAnyState({ table, states }: ListingRequest, condition: Sql): Sql {
  if (!table.states || states) return condition
  return sql`l.state = ANY(${raw(`'{${table.states.join(',')}}'`)}) AND ${condition}`
}

/**
 * Kinds of indexed terms of listings and payouts. The SQL functions market.listing_terms and market.payout_terms
 * compute terms of these kinds.
 */
export type TermKind =
  | 'minter'
  | 'receiver'
  | 'schema'
  | 'seller'
  | 'buyer'
  | 'maker'
  | 'taker'
  | 'symbol'
  | 'collection'
  | 'state'
  | 'is'
  | 'plain'
  | 'asset'
  | 'kind'
  | 'listing'
  | 'category'

/** Indexed term that each listing with several assets has. */
export const BUNDLE = termOf('is', 'bundle')
/**
 * Indexed term that each listing with more than two schemas has. The terms of kind `schema` name only two schemas of a
 * listing.
 */
export const MANY_SCHEMAS = termOf('is', 'schemas')

/**
 * Indexed term: a hash of kind and value. The SQL function market.trait computes the same hash. Different values can
 * have the same hash, so a query also checks the columns of the rows that it finds by term.
 */
export function termOf(kind: TermKind | 'pair', value: string): number {
  return createHash('md5').update(`${kind}\u001f${value}`).digest().readInt32BE(0)
}

/** Indexed terms for several values of the same kind, one for each value. */
export function termsOf(kind: TermKind, values: readonly (string | number | bigint)[]): number[] {
  return values.map((value) => termOf(kind, String(value)))
}

/**
 * Indexed terms that find the listings whose `template_id` is NULL: bundles, and listings of an asset without a
 * template.
 * @param collections of the listings; undefined for all collections.
 */
export function termsOfNoTemplate(collections: readonly string[] | undefined): number[] {
  return collections ? termsOf('plain', collections) : [termOf('is', 'plain')]
}

/**
 * Number of terms in one GIN index scan. A condition that would need more than MOST_SCANS scans has more terms in each
 * scan.
 */
const TERMS_OF_SCAN = 16
/** Maximum number of GIN index scans for one condition: PostgreSQL plans each scan separately, which takes time. */
const MOST_SCANS = 8

/**
 * Condition: the listing has at least one of the terms. Many terms are split among several GIN index scans, because a
 * scan compares each entry that it finds with every term of the scan.
 * @param column SQL of the terms. PostgreSQL uses the GIN index if this expression equals the indexed expression.
 */
export function hasTerm(column: Sql, terms: readonly number[]): Sql {
  const size = Math.max(TERMS_OF_SCAN, Math.ceil(terms.length / MOST_SCANS))
  const scans: Sql[] = []
  for (let at = 0; at === 0 || at < terms.length; at += size)
    scans.push(sql`${column} && ${bind(terms.slice(at, at + size), 'integer[]')}`)
  return scans.length === 1 ? scans[0]! : sql`(${joinSql(scans, ' OR ')})`
}

/**
 * Maximum number of templates that a name search lists by id. If more templates match, the search checks the name of
 * each listing.
 */
const MOST_NAMED = 2_000

const FIXED_NAME = raw(`(t.immutable_data ->> 'name')`)

/** Parameters of name searches. Sales store the names of their assets, so a search of sales reads no assets. */
export const nameSearches = ['match', 'match_immutable_name', 'match_mutable_name', 'search'] as const

/**
 * Templates that a name search selects. The immutable name of a template is the name of all its assets, so the search
 * finds a sale of one asset by the id of the asset's template.
 */
export interface NamedTemplates {
  /** Templates whose immutable name matches the name search. */
  readonly matching: readonly number[]
  /**
   * Templates without an immutable name. Their assets can have different names, so the name search checks the name in
   * each sale.
   */
  readonly nameless: readonly number[]
}

/**
 * SQL conditions for the request's name searches.
 * @param name SQL of the name that is searched.
 */
export function nameConditions(values: ListingValues, name: Sql, trigrams: boolean): Sql[] {
  return nameSearches.flatMap((parameter) => {
    const term = values[parameter]
    if (!term) return []
    // The operator `<%` of pg_trgm compares the word similarity with the setting pg_trgm.word_similarity_threshold, 0.6
    // by default.
    return [
      parameter === 'search' && trigrams ? sql`${bind(term, 'text')} <% ${name}` : containsText(name, term),
    ]
  })
}

/**
 * Looks up the templates that the name searches of a request for sales select. Undefined for other kinds of listing,
 * without a name search, or if more than MOST_NAMED templates match.
 */
export async function resolveNamedTemplates(
  session: Session,
  { kind }: ListingTable,
  values: ListingValues,
  trigrams: boolean,
): Promise<NamedTemplates | undefined> {
  const names = nameConditions(values, FIXED_NAME, trigrams)
  // Only sales have a column with the names of their assets. For other kinds of listing, the filters on templates and
  // on assets search the names in the tables of templates and assets.
  if (kind !== 1 || names.length === 0) return undefined
  const { collection_name: collections, collection_whitelist: white } = values
  const scope = [
    ...(collections ? [isOneOf(raw('t.collection_name'), collections)] : []),
    ...(white ? [isOneOf(raw('t.collection_name'), white)] : []),
    isNoneOf(raw('t.collection_name'), values.collection_blacklist ?? []),
  ]
  const idsOf = (conditions: readonly Sql[]): Sql => sql`(SELECT string_agg(x.template_id::text, ',') FROM (
      SELECT t.template_id FROM assets.templates t ${where([...conditions, ...scope])} LIMIT ${raw(MOST_NAMED + 1)}) x)`
  const [row] = await session.query<[string | null, string | null]>(
    sql`SELECT ${idsOf(names)}, ${idsOf([sql`${FIXED_NAME} IS NULL`])}`.render(),
  )
  const [matching, nameless] = (row ?? [null, null]).map((text) => (text ? text.split(',').map(Number) : []))
  if (matching!.length > MOST_NAMED || nameless!.length > MOST_NAMED) return undefined
  return { matching: matching!, nameless: nameless! }
}
