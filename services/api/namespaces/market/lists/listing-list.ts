import { without } from '../../../../core/endpoint/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List } from '../../../planner/index.ts'
import { resolveTemplates } from '../../nft/filters/index.ts'
import { directionOf } from '../../nft/paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { hiddenTemplates, listedAssetFilters, withoutNames } from './listed-asset-filters.ts'
import { listingOrder } from './listing-orders.ts'
import type { ListingQuery, ListingRequest } from './listing-request.ts'
import { wantedStates, withoutCommon } from './listing-request.ts'
import { listingTables } from './listing-table.ts'
import { resolveNamedTemplates } from './named-templates.ts'
import { auctionFilters, priceFilters, stateFilters } from './own-filters.ts'
import { readPriceBounds } from './price-bounds.ts'
import { rowFilters } from './row-filters.ts'
import { readSalePricing, salePriceFilters, salePriceOrder } from './sale-prices.ts'
import type { ListingValues } from '../parameters.ts'

/** Dependencies of lists of listings. */
export type ListingSetup = Pick<MarketSetup, 'trigrams' | 'clock' | 'lists'>

/** The request with the data that its filters need, and the filters that every kind of listing has. */
export async function listingFilters(
  { session, values, attributes }: EndpointContext<ListingValues>,
  { trigrams, lists: { statistics } }: Pick<ListingSetup, 'trigrams' | 'lists'>,
  { kind, standard }: ListingQuery,
): Promise<{ request: ListingRequest; filters: readonly Filter[] }> {
  await statistics.refresh(session)
  const table = listingTables[kind]
  // One asset must match template and schema, so only templates of the schema count.
  const isWithin = values.schema_name !== undefined
  const own = withoutNames({ table, values })
  const templates = await resolveTemplates(session, { values: own, attributes, trigrams }, isWithin)
  const named = await resolveNamedTemplates(session, table, values, trigrams)
  const hidden = await hiddenTemplates(session, values)
  const states = wantedStates(values) ?? standard
  const request = { table, values, attributes, states, trigrams, templates, named, hidden, statistics }
  return { request, filters: [...rowFilters(request), ...listedAssetFilters(request)] }
}

/** The requested list. Own statements first resolve filters on templates, names and prices. */
export async function listingList(
  context: EndpointContext<ListingValues>,
  setup: ListingSetup,
  query: ListingQuery,
): Promise<List> {
  const { request, filters } = await listingFilters(context, setup, query)
  const { session, values } = context
  const { table, statistics } = request
  const listOf = (own: readonly Filter[], order = listingOrder(request)): List => ({
    source: table.source,
    table: table.table,
    filters: withoutCommon([...own, ...filters], statistics.rows(table.table)),
    order,
  })
  if (query.kind === 'sale') {
    const isByPrice = values.sort === 'price'
    const pricing = await readSalePricing(session, values, isByPrice)
    const own = stateFilters(request)
    return isByPrice
      ? listOf(own, salePriceOrder(directionOf(values), pricing, statistics))
      : listOf([...own, ...salePriceFilters(request, pricing)])
  }
  const prices = priceFilters(request, await readPriceBounds(session, values))
  const own = query.kind === 'auction' ? auctionFilters(request, setup.clock()) : stateFilters(request)
  return listOf([...own, ...prices])
}

/** The list of a request that only counts rows: no order, and price bounds are filters. */
export function countedList(
  { values, ...context }: EndpointContext<ListingValues>,
  setup: ListingSetup,
  query: ListingQuery,
): Promise<List> {
  const sorted = values.sort === 'price' ? without(values, ['sort']) : values
  return listingList({ ...context, values: sorted }, setup, query)
}
