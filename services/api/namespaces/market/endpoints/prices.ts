import type { Endpoint, Parameter } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { assetListParameters } from '../../assets/index.ts'
import { paging, sortOrder } from '../../parameter-groups/index.ts'
import { priceSymbols } from '../parameters.ts'
import {
  assetSales,
  inventoryPrices,
  latestTrades,
  sumPrices,
  templatePrices,
  tradeDays,
} from '../statistics/index.ts'
import {
  assetSaleRecord,
  inventoryRecord,
  priceDayRecord,
  priceSumRecord,
  templatePriceRecord,
  tradeRecord,
} from '../records/index.ts'
import type { MarketSetup } from '../setup.ts'

const names = { type: 'name', list: 'named' } as const
const times: readonly Parameter[] = [
  { name: 'before', type: 'int', minimum: 1, description: 'Until this time, ms since 1970; inclusive.' },
  { name: 'after', type: 'int', minimum: 1, description: 'From this time, ms since 1970; inclusive.' },
]
const collection: Parameter = {
  name: 'collection_name',
  ...names,
  description: 'Collection is one of these.',
}
const schema: Parameter = { name: 'schema_name', ...names, description: 'Schema is one of these.' }
const template: Parameter = {
  name: 'template_id',
  type: 'id',
  list: 'named',
  description: 'Template is one of these.',
}

/** What a trade of one asset is found by. */
const tradeFilter: readonly Parameter[] = [
  collection,
  schema,
  { ...template, nullable: true, description: 'Template is one of these; null for assets without one.' },
  { name: 'asset_id', type: 'id', list: 'named', description: 'Asset is one of these.' },
  { name: 'burned', type: 'bool', description: 'The asset is burned, or is not.' },
  priceSymbols,
]

/** Bounds of ids that the sums over assets understand beside the filters of the asset list. */
const LEFT_OUT = new Set(['page', 'limit', 'order', 'sort', 'count', 'before', 'after'])

/** `/v1/prices/...` and the trades of one asset. */
export function priceEndpoints(setup: MarketSetup): Endpoint[] {
  const attributes = ['data', 'template_data', 'immutable_data', 'mutable_data'] as const
  const assets = assetListParameters(setup.assets).filter(({ name }) => !LEFT_OUT.has(name))
  const latest: Endpoint = {
    path: '/v1/prices/sales',
    tag: 'prices',
    summary: 'The 500 latest trades of single assets, the oldest of them first',
    parameters: tradeFilter,
    record: shape.list(tradeRecord),
    run: ({ session, values }) => latestTrades(session, values),
  }
  return [
    latest,
    { ...latest, path: '/v1/prices' },
    {
      path: '/v1/prices/sales/days',
      tag: 'prices',
      summary: 'Trades of single assets by day (UTC) and token, the latest day first',
      parameters: [...tradeFilter, ...times],
      record: shape.list(priceDayRecord),
      run: ({ session, values }) => tradeDays(session, values),
    },
    {
      path: '/v1/prices/templates',
      tag: 'prices',
      summary: 'Prices of templates, by template and token',
      parameters: [...paging(setup.limits.prices_templates), collection, schema, template, priceSymbols],
      record: shape.list(templatePriceRecord),
      run: ({ session, values }) => templatePrices(session, setup, values),
    },
    {
      path: '/v1/prices/assets',
      tag: 'prices',
      summary: 'Sums over assets of the prices of their templates, by token',
      parameters: assets,
      attributes,
      record: shape.list(priceSumRecord),
      run: ({ session, values, attributes: filters }) => sumPrices(session, setup, values, filters),
    },
    {
      path: '/v1/prices/inventory/:account',
      tag: 'prices',
      summary: 'The same for what an account owns, by collection',
      parameters: [
        { name: 'account', in: 'path', type: 'name', description: 'Account.' },
        ...assets.filter(({ name }) => name !== 'account'),
      ],
      attributes,
      record: inventoryRecord,
      run: ({ session, values, attributes: filters }) => inventoryPrices(session, setup, values, filters),
    },
    {
      path: '/v1/assets/:asset_id/sales',
      tag: 'assets',
      summary: 'Trades of an asset',
      parameters: [
        { name: 'asset_id', in: 'path', type: 'id', description: 'Asset.' },
        { name: 'seller', ...names, description: 'Seller is one of these.' },
        { name: 'buyer', ...names, description: 'Buyer is one of these.' },
        priceSymbols,
        sortOrder('desc'),
        { name: 'limit', type: 'int', default: '500', minimum: 1, description: 'Trades; at most 500.' },
        { name: 'bundles', type: 'bool', description: 'false: only trades of this asset alone.' },
      ],
      record: shape.list(assetSaleRecord),
      run: ({ session, values }) => assetSales(session, setup, values),
    },
  ]
}
