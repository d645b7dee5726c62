import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { countEndpointOf, pageJson, oneJson } from '../../nft/endpoints/index.ts'
import type { ListingKind } from '../lists/listing-table.ts'
import { listingKinds, listingTables } from '../lists/listing-table.ts'
import { listingParameters, cheapestParameters } from '../parameters.ts'
import type { MarketSetup } from '../setup.ts'
import { runListings } from '../lists/listing-list.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { warningHeader } from '../../../../core/http/headers/index.ts'
import { requireToken, SYMBOL_IS_REQUIRED } from '../aggregates/token.ts'
import { selectCheapest } from '../lists/cheapest-sales.ts'
import { id, inPath, named } from '../../../../core/parameters/index.ts'
import type { RecordKind } from '../../../records/index.ts'

/** Endpoints of every kind of listing except sales: list, count, and one listing. */
export function listingEndpoints(setup: MarketSetup): Endpoint[] {
  return listingKinds.filter((kind) => kind !== 'sale').flatMap((kind) => endpointsOf(setup, kind))
}

function endpointsOf(setup: MarketSetup, kind: ListingKind): Endpoint[] {
  const records = setup.records[kind]
  const { key, group, summary, limit, isSingle } = listingTables[kind]
  const runs = runListings(setup, { kind }, records)
  const list = endpoint({
    path: `/v1/${group}`,
    tag: group,
    summary,
    parameters: listingParameters(setup.limits[limit], key, { states: statesOf(records) }, isSingle),
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(records.schema),
    run: runs.page,
  })
  return [list, countEndpointOf(list, runs.count), oneListing(kind, records)]
}

const noSymbol = { status: 400, message: 'symbol parameter is required' } as const
const noFilter = { status: 400, message: 'You need to specify an asset filter!' } as const

/**
 * Filters on assets and collections. A request for the cheapest sale of each template needs at least one such filter.
 */
const narrowing = [
  'asset_id',
  'owner',
  'burned',
  'template_id',
  'schema_name',
  'is_transferable',
  'is_burnable',
  'minter',
  'initial_receiver',
  'burner',
  'collection_name',
  'collection_whitelist',
] as const

/** A list of sales: path, largest page, and default states. */
interface SaleList {
  readonly path: string
  readonly limit: number
  readonly standard?: readonly number[]
}

/**
 * Default states of `/v2/sales`, without cancelled sales. With the setting `disable_v1_sales`, `/v1/sales` has the same
 * default.
 */
const notCancelled = [1, 3, 4]

/**
 * The lists of sales with their counts. They differ only in the largest page and in whether cancelled sales are shown.
 */
function saleLists(setup: MarketSetup): Endpoint[] {
  const { limits, disableV1Sales } = setup
  const newer = { limit: limits.sales_v2, standard: notCancelled }
  const older = { limit: limits.sales }
  const lists: readonly SaleList[] = [
    { path: '/v0/sales', ...older },
    { path: '/v1/sales', ...(disableV1Sales ? newer : older) },
    { path: '/v2/sales', ...newer },
  ]
  return lists.flatMap(({ path, limit, standard }) => {
    const runs = runListings(setup, { kind: 'sale', standard }, setup.records.listedSale)
    const unnamed = `Default: ${standard ? standard.join(', ') : 'all states'}`
    const list = endpoint({
      path,
      tag: 'sales',
      summary: standard ? 'Sales, by default without cancelled sales' : 'Sales',
      parameters: listingParameters(limit, 'sale_id', {
        states: statesOf(setup.records.sale),
        note: unnamed,
      }),
      attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
      record: shape.list(setup.records.listedSale.schema),
      run: runs.page,
    })
    return [list, countEndpointOf(list, runs.count)]
  })
}

/** Endpoints of sales: lists, counts, the cheapest sale of each template, and one sale. */
export function saleEndpoints(setup: MarketSetup): Endpoint[] {
  const cheapest = endpoint({
    path: '/v1/sales/templates',
    tag: 'sales',
    summary: 'The cheapest listed sale of each template, among sales of a single asset',
    parameters: cheapestParameters(setup.limits.sales_templates),
    noted: narrowing,
    attributes: ['data', 'template_data', 'immutable_data', 'mutable_data'],
    record: shape.list(setup.records.listedSale.schema),
    failures: [noSymbol, noFilter],
    run: async (context) => {
      const { session, values, noted } = context
      if (values.symbol === undefined)
        throw new RequestError(noSymbol.status, noSymbol.message, warningHeader([SYMBOL_IS_REQUIRED]))
      if (!noted?.length) {
        const explanation = `one of these parameters is required: ${narrowing.join(', ')}`
        throw new RequestError(noFilter.status, noFilter.message, warningHeader([explanation]))
      }
      await requireToken(session, values.symbol)
      const keys = await selectCheapest(context, setup)
      return pageJson(session, keys, setup.records.listedSale)
    },
  })
  return [...saleLists(setup), cheapest, oneListing('sale', setup.records.sale)]
}

/** Endpoint of one listing by the id in the path. */
function oneListing(kind: ListingKind, records: RecordKind): Endpoint {
  const { key, group, one, missing } = listingTables[kind]
  return endpoint({
    path: `/v1/${group}/:${key}`,
    tag: group,
    summary: `One ${one}`,
    parameters: named(key, inPath(id(`Id of the ${one}.`))),
    record: records.schema,
    failures: [missing],
    cache: 'path',
    run: ({ session, values }) => oneJson(session, String(values[key]), records, missing),
  })
}

/** The numbers and meanings of the states of listings. */
function statesOf({ schema }: RecordKind): string {
  return schema.properties!.state!.description!
}
