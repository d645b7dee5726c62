import type { RecordKind } from '../../../records/index.ts'
import type { ListOfRecords } from '../../nft/endpoints/index.ts'
import { runCount, runList } from '../../nft/endpoints/index.ts'
import type { Run, EndpointContext } from '../../../endpoint/index.ts'
import { countFromCounters } from './listing-counts.ts'
import type { ListingListValues, ListingValues } from '../parameters.ts'
import { without } from '../../../../core/endpoint/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List } from '../../../planner/index.ts'
import { resolveTemplates } from '../../nft/filters/index.ts'
import { directionOf } from '../../nft/paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { auctionFilters } from './auction-filters.ts'
import { hiddenTemplates, listedAssetFilters, withoutNames } from './listed-asset-filters.ts'
import type { ListingQuery, ListingRequest } from './listing-request.ts'
import { wantedStates, withoutCommon, resolveNamedTemplates } from './listing-request.ts'
import { listingTables, NAME_HEAD } from './listing-table.ts'
import { priceFilters, stateFilters, rowFilters } from './row-filters.ts'
import { readPriceBounds, readSalePricing, salePriceFilters, salePriceOrder } from './prices.ts'
import type { Sql } from '../../../sql/index.ts'
import { bind, raw, sql } from '../../../sql/index.ts'
import type { Segment, Order } from '../../../planner/sources/index.ts'

/** Dependencies of the lists of listings. */
export type ListingSetup = Pick<MarketSetup, 'trigrams' | 'clock' | 'lists'>

/**
 * Reads the data that the filters need, such as the templates of a name search. Returns the request with this data, and
 * the filters that every kind of listing has.
 */
export async function listingFilters(
  { session, values, attributes }: EndpointContext<ListingValues>,
  { trigrams, lists: { statistics } }: Pick<ListingSetup, 'trigrams' | 'lists'>,
  { kind, standard }: ListingQuery,
): Promise<{ request: ListingRequest; filters: readonly Filter[] }> {
  await statistics.refresh(session)
  const table = listingTables[kind]
  // One asset of the listing must match both the filter on the schema and the filter on the template. If the request
  // filters by schema, only templates of the requested schemas can match.
  const isWithin = values.schema_name !== undefined
  const own = withoutNames({ table, values })
  const templates = await resolveTemplates(session, { values: own, attributes, trigrams }, isWithin)
  const named = await resolveNamedTemplates(session, table, values, trigrams)
  const hidden = await hiddenTemplates(session, values)
  const states = wantedStates(values) ?? standard
  const request = { table, values, attributes, states, trigrams, templates, named, hidden, statistics }
  return { request, filters: [...rowFilters(request), ...listedAssetFilters(request)] }
}

/**
 * List of the requested listings of one kind. If the request filters by template, name or price, further statements
 * first read the data that these filters need.
 */
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
      ? listOf(own, salePriceOrder(request, pricing))
      : listOf([...own, ...salePriceFilters(request, pricing)])
  }
  const prices = priceFilters(request, await readPriceBounds(session, values))
  const own = query.kind === 'auction' ? auctionFilters(request, setup.clock()) : stateFilters(request)
  return listOf([...own, ...prices])
}

/**
 * The list for a request that only counts listings. A count needs no order, so the sort by price is dropped, and the
 * price bounds become filters.
 */
export function countedList(
  { values, ...context }: EndpointContext<ListingValues>,
  setup: ListingSetup,
  query: ListingQuery,
): Promise<List> {
  const sorted = values.sort === 'price' ? without(values, ['sort']) : values
  return listingList({ ...context, values: sorted }, setup, query)
}

/** The order that the request's parameter `sort` names. For sales by price, `salePriceOrder` is used instead. */
function listingOrder(request: ListingRequest): Order {
  const { table, values } = request
  switch (values.sort) {
    case 'updated':
      return orderBy(request, 'updated_at_time')
    case 'ending':
      return orderBy(request, 'end_time')
    case table.key:
      return orderBy(request, table.key)
    case 'price':
      return orderBy(request, 'price')
    case 'template_mint':
    case 'effective_mint':
      return mintOrder(request)
    case 'name':
      return nameOrder(request)
    default:
      return orderBy(request, 'created_at_time')
  }
}

function orderBy({ values }: ListingRequest, column: string): Order {
  return { direction: directionOf(values), segments: [{ rank: 0, column }] }
}

/** Last segment of an order: the rows whose sort column is NULL, in ascending order of the key. */
function last({ table }: ListingRequest, column: string, type: string, share: number): Segment {
  const conditions = [raw(`l.${column} IS NULL`)]
  return { rank: 1, column: table.key, direction: 'ASC', value: raw(`NULL::${type}`), conditions, share }
}

function nullShare({ table: { table }, statistics }: ListingRequest, column: string): number {
  return statistics.equal(table, column, [null]) / statistics.rows(table)
}

/**
 * Order by name; listings without a name come last. The index stores only the first characters of a name, so rows with
 * the same first characters are compared by the whole name.
 */
function nameOrder(request: ListingRequest): Order {
  const none = nullShare(request, 'name')
  return {
    direction: directionOf(request.values),
    segments: [
      {
        rank: 0,
        column: 'name_head',
        expression: NAME_HEAD,
        value: raw('l.name'),
        conditions: [raw('l.name IS NOT NULL')],
        share: 1 - none,
      },
      last(request, 'name', 'text COLLATE "C"', none),
    ],
    sorted: { value: raw('l.name') },
  }
}

/** Order by the lowest mint number of a listing. */
function mintOrder(request: ListingRequest): Order {
  const { table, values } = request
  const [lowest] = table.mints
  const column = raw(`l.${lowest}`)
  const most = values.max_template_mint ?? values.max_effective_mint
  const bound: Sql[] = most === undefined ? [] : [sql`${column} <= ${bind(most, 'bigint')}`]
  const none = nullShare(request, lowest)
  const isNeverNull =
    values.sort === 'effective_mint' ||
    (['min_template_mint', 'min_effective_mint', 'max_effective_mint'] as const).some(
      (name) => values[name] !== undefined,
    ) ||
    (table.kind === 4 && most !== undefined)
  const numbered: Segment = {
    rank: 0,
    column: lowest,
    conditions: [sql`${column} IS NOT NULL`, ...bound],
    share: 1 - none,
  }
  return {
    direction: directionOf(values),
    segments: isNeverNull ? [numbered] : [numbered, last(request, lowest, 'integer', none)],
    sorted: { value: column },
  }
}

/** Functions that answer the endpoint of a list of listings and the endpoint of its count. */
interface ListingRuns {
  readonly page: Run<ListingListValues>
  readonly count: Run<ListingListValues>
}

type Listed = EndpointContext<ListingListValues>

/** Creates the functions that answer the list endpoint and the count endpoint of one kind of listing. */
export function runListings(setup: MarketSetup, query: ListingQuery, kind: RecordKind): ListingRuns {
  const recordsOf = (list: (context: Listed) => Promise<List>): ListOfRecords<ListingListValues> => ({
    lists: setup.lists,
    list,
    kind,
    counted: (context) => countFromCounters(context, query),
  })
  const page = runList(recordsOf((context) => listingList(context, setup, query)))
  const count = runCount(recordsOf((context) => countedList(context, setup, query)))
  return {
    page: (context) => (context.values.count === true ? count(context) : page(context)),
    count,
  }
}
