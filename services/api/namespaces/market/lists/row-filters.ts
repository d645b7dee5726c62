import { bind, raw, sql, allOf } from '../../../sql/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { nothing } from '../../../planner/filters/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import { boundaryFilters, TEMPLATE_DATA } from '../../nft/filters/index.ts'
import { isNoneOf, wantedCollections } from '../../nft/conditions/index.ts'
import type { ListingRequest } from './listing-request.ts'
import { columnFilter, distinct, ofAnyState, BUNDLE, hasTerm, termsOf } from './listing-request.ts'
import type { ListingValues } from '../parameters.ts'
import type { PriceBounds } from './prices.ts'
import { withinBounds } from './prices.ts'

/**
 * Maximum number of collections in a request that filters or sorts by effective mint number. For an asset from another
 * chain, the effective mint number is the mint number of the original asset.
 */
const MAX_MINT_COLLECTIONS = 50
/**
 * Assumed share of the listings whose seller is an account without a contract. PostgreSQL has no statistics on this
 * share.
 */
const WITHOUT_CODE = 0.7

/**
 * Filters on columns of listings of any kind, except states, prices and the columns that describe assets.
 * @throws RequestError 400 if a range of mint numbers is empty. Also 400 if a filter or sort by effective mint number
 * (for an asset from another chain, the mint number of the original asset) names no collection or too many.
 */
export function rowFilters(request: ListingRequest): Filter[] {
  return [
    ...collectionFilters(request),
    ...partyFilters(request),
    ...marketplaceFilters(request),
    ...symbolFilters(request),
    ...mintFilters(request),
    ...numberFilters(request),
    ...boundFilters(request),
  ]
}

/**
 * Indexed terms of the given sellers or collections; none for sales. Sales are found by other indexes, which begin with
 * the seller or the collection.
 */
function ownTerms(
  { table }: ListingRequest,
  kind: 'seller' | 'collection',
  names: readonly string[],
): { terms?: number[] } {
  return table.kind === 1 ? {} : { terms: termsOf(kind, names) }
}

function collectionFilters(request: ListingRequest): Filter[] {
  const { values, templates } = request
  const black = values.collection_blacklist ?? []
  const wanted = wantedCollections(values)
  if (wanted) {
    const terms = ownTerms(request, 'collection', wanted)
    const column = { name: 'collection', column: 'collection_name', ...terms }
    const filter = columnFilter(request, column, wanted)
    // If the templates that match the filters on template data are listed by id, they belong to the requested
    // collections. All assets of a listing belong to the listing's collection. The filter on templates therefore
    // implies the filter on collections.
    return [templates.kind === 'ids' ? { ...filter, impliedBy: TEMPLATE_DATA } : filter]
  }
  return black.length === 0 ? [] : [unlike(request, 'collection_blacklist', 'collection_name', black)]
}

/** Filter: the seller, or the buyer, is one of the given accounts. */
function partyFilter(
  request: ListingRequest,
  party: 'seller' | 'buyer',
  accounts: readonly string[],
): Filter {
  const terms =
    party === 'seller' ? ownTerms(request, 'seller', accounts) : { terms: termsOf('buyer', accounts) }
  return columnFilter(request, { column: party, ...terms }, accounts)
}

/** Filter: the column is NULL or has none of the given texts. */
function unlike(
  { table: { table }, statistics }: ListingRequest,
  name: string,
  column: string,
  texts: readonly string[],
): Filter {
  return {
    name,
    condition: sql`(${raw(`l.${column}`)} IS NULL OR ${isNoneOf(raw(`l.${column}`), texts)})`,
    rows: Math.max(1, statistics.rows(table) - statistics.equal(table, column, distinct(texts))),
    columns: [column],
    isIndexed: false,
  }
}

function partyFilters(request: ListingRequest): Filter[] {
  const { values, table, statistics } = request
  const { seller: sellers, buyer: buyers } = values
  const filters: Filter[] = []
  if (sellers) filters.push(partyFilter(request, 'seller', sellers))
  if (buyers) filters.push(partyFilter(request, 'buyer', buyers))
  const accounts = values.account
  if (accounts) {
    const sold = partyFilter(request, 'seller', accounts)
    const bought = partyFilter(request, 'buyer', accounts)
    filters.push({
      name: 'account',
      condition: sql`(${sold.condition} OR ${bought.condition})`,
      found: sql`((${sold.found ?? sold.condition}) OR (${bought.found ?? bought.condition}))`,
      rows: Math.min(statistics.rows(table.table), sold.rows + bought.rows),
      columns: ['seller', 'buyer'],
      isIndexed: true,
      ...(accounts.length === 0 ? nothing('account') : {}),
    })
  }
  for (const side of ['seller', 'buyer'] as const) {
    const black = values[`${side}_blacklist` as const] ?? []
    if (black.length > 0) filters.push(unlike(request, `${side}_blacklist`, side, black))
  }
  if (values.show_seller_contracts === false) {
    const exempt = values.contract_whitelist ?? []
    const unnamed = exempt.length === 0 ? raw('') : sql` AND ${isNoneOf(raw('h.account'), exempt)}`
    filters.push({
      name: 'show_seller_contracts',
      condition: sql`NOT EXISTS (SELECT FROM chain.code_accounts h WHERE h.account = l.seller${unnamed})`,
      rows: statistics.rows(table.table) * WITHOUT_CODE,
      isIndexed: false,
    })
  }
  return filters
}

function marketplaceFilters(request: ListingRequest): Filter[] {
  const { values, table, statistics } = request
  const ofSide = (side: 'maker' | 'taker', marketplaces: readonly string[]): Filter =>
    columnFilter(request, { column: `${side}_marketplace`, terms: termsOf(side, marketplaces) }, marketplaces)
  const either = values.marketplace
  if (either) {
    if (either.length === 0) return [nothing('marketplace')]
    const maker = ofSide('maker', either)
    const taker = ofSide('taker', either)
    const condition = sql`(${maker.condition} OR ${taker.condition})`
    const terms = [...termsOf('maker', either), ...termsOf('taker', either)]
    return [
      {
        name: 'marketplace',
        condition,
        found: sql`${hasTerm(table.terms, terms)} AND ${condition}`,
        rows: Math.min(statistics.rows(table.table), maker.rows + taker.rows),
        columns: ['maker_marketplace', 'taker_marketplace'],
        isIndexed: true,
      },
    ]
  }
  return (['maker', 'taker'] as const).flatMap((side) => {
    const marketplaces = values[`${side}_marketplace` as const]
    return marketplaces ? [ofSide(side, marketplaces)] : []
  })
}

function symbolFilters(request: ListingRequest): Filter[] {
  const symbols = request.values.symbol
  if (!symbols) return []
  const column = { name: 'symbol', column: request.table.symbol, terms: termsOf('symbol', symbols) }
  return [columnFilter(request, column, symbols)]
}

/**
 * Filters on mint numbers: the mint numbers of all assets of a listing must be within the requested range. The
 * effective mint number of a bridged asset is the mint number of the original asset on another chain. The database does
 * not store these numbers. Filters on effective mint numbers therefore compare the same columns as filters on template
 * mint numbers.
 */
function mintFilters(request: ListingRequest): Filter[] {
  const { table, values, statistics } = request
  const [lowest, highest] = table.mints
  const rangeOf = (kind: 'template' | 'effective') => {
    const least = values[`min_${kind}_mint` as const]
    const most = values[`max_${kind}_mint` as const]
    if (least !== undefined && most !== undefined && least > most) {
      // Clients of the replaced system compare this error message, so the message for template mints keeps the
      // misspelling `grater`.
      const greater = kind === 'template' ? 'grater' : 'greater'
      throw new RequestError(400, `Min ${kind} mint can't be ${greater} than max ${kind} mint`)
    }
    return { least, most }
  }
  const between = (column: string, low: number | undefined, high: number | undefined): number =>
    statistics.between(
      table.table,
      column,
      low === undefined ? undefined : BigInt(low),
      high === undefined ? undefined : BigInt(high),
    )
  const common = { columns: [lowest, highest], isIndexed: true }
  const atLeast = (name: string, least: number): Filter => {
    const condition = sql`${raw(`l.${lowest}`)} >= ${bind(least, 'bigint')}`
    return {
      ...common,
      name,
      condition,
      found: ofAnyState(request, condition),
      rows: between(lowest, least, undefined),
      range: { column: lowest },
    }
  }
  const atMost = (name: string, most: number, orNone: boolean): Filter => {
    const limit = bind(most, 'bigint')
    const below = sql`${raw(`l.${highest}`)} <= ${limit}`
    const none = orNone ? statistics.equal(table.table, highest, [null]) : 0
    return {
      ...common,
      name,
      condition: orNone ? sql`(${below} OR ${raw(`l.${highest}`)} IS NULL)` : below,
      ...(orNone ? {} : { found: ofAnyState(request, sql`${raw(`l.${lowest}`)} <= ${limit} AND ${below}`) }),
      rows: between(highest, undefined, most) + none,
      isIndexed: !orNone,
    }
  }
  const filters: Filter[] = []
  const { least, most } = rangeOf('template')
  if (least !== undefined) filters.push(atLeast('min_template_mint', least))
  // Without a lower bound, listings without mint numbers match `max_template_mint`, too. Template buy offers do not: an
  // open template buy offer has no mint number, because it has no asset yet.
  if (most !== undefined)
    filters.push(atMost('max_template_mint', most, least === undefined && table.kind !== 4))
  const effective = rangeOf('effective')
  const isSorted = values.sort === 'effective_mint'
  if (effective.least === undefined && effective.most === undefined && !isSorted) return filters
  const collections = values.collection_name
  if (!collections) {
    throw new RequestError(
      400,
      'min_effective_mint, max_effective_mint and sort=effective_mint require collection_name',
    )
  }
  if (collections.length > MAX_MINT_COLLECTIONS) {
    const message = `min_effective_mint, max_effective_mint and sort=effective_mint accept at most ${MAX_MINT_COLLECTIONS} collection names`
    throw new RequestError(400, message)
  }
  filters.push(atLeast('effective mint', effective.least ?? 0))
  if (effective.most !== undefined) filters.push(atMost('max_effective_mint', effective.most, false))
  return filters
}

/** Filters of the parameters `min_assets` and `max_assets`. */
function numberFilters({ table, values, statistics }: ListingRequest): Filter[] {
  if (table.kind === 4) return []
  const { min_assets: least, max_assets: most } = values
  const filters: Filter[] = []
  const common = { columns: ['asset_count'] }
  if (least !== undefined) {
    const condition = sql`l.asset_count >= ${bind(least, 'bigint')}`
    filters.push({
      ...common,
      name: 'min_assets',
      condition,
      // The GIN index finds the listings with several assets by the term BUNDLE. These listings are few.
      ...(least > 1 ? { found: sql`${hasTerm(table.terms, [BUNDLE])} AND ${condition}` } : {}),
      rows: statistics.between(table.table, 'asset_count', BigInt(least), undefined),
      isIndexed: least > 1,
    })
  }
  if (most !== undefined) {
    filters.push({
      ...common,
      name: 'max_assets',
      condition: sql`l.asset_count <= ${bind(most, 'bigint')}`,
      rows: statistics.between(table.table, 'asset_count', undefined, BigInt(most)),
      isIndexed: false,
    })
  }
  return filters
}

/**
 * Filters of the parameters `ids`, `lower_bound`, `upper_bound`, `before` and `after`, and of the parameter with the
 * name of the key column, such as `sale_id`.
 */
function boundFilters(request: ListingRequest): Filter[] {
  const { table, values, statistics } = request
  const { table: name, key } = table
  const column = timeColumn(values)
  const bounded = { table: name, alias: 'l', key, type: 'bigint', time: { column } } as const
  return boundaryFilters(values, statistics, bounded, values[key]).map((filter) =>
    filter.range?.column === column ? { ...filter, found: ofAnyState(request, filter.condition) } : filter,
  )
}

/** The time column that the parameters `before` and `after` are compared with. */
function timeColumn(values: ListingValues): 'created_at_time' | 'updated_at_time' {
  return values.sort === 'updated' ? 'updated_at_time' : 'created_at_time'
}

/** The filter on states, for listings whose state does not depend on the clock: all kinds except auctions. */
export function stateFilters(request: ListingRequest): Filter[] {
  const { states, table } = request
  if (!states) return []
  const terms = table.states ? {} : { terms: termsOf('state', states) }
  return [columnFilter(request, { column: 'state', type: 'integer', ...terms }, states)]
}

/**
 * The filter of the parameters `min_price` and `max_price`, for listings whose price is a column: all kinds except
 * sales.
 */
export function priceFilters(
  { table, statistics }: ListingRequest,
  bounds: PriceBounds | 'never' | undefined,
): Filter[] {
  if (bounds === undefined) return []
  if (bounds === 'never') return [nothing('price')]
  return [
    {
      name: 'price',
      condition: allOf(withinBounds(raw('l.price'), bounds)),
      rows: statistics.between(table.table, 'price', bounds.least, bounds.most),
      range: { column: 'price' },
      columns: ['price'],
      isIndexed: true,
    },
  ]
}
