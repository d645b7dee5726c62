import { inPath, text } from '../../../../core/parameters/index.ts'
import { without } from '../../../../core/endpoint/index.ts'
import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { assetListParameters } from '../../nft/parameters/index.ts'
import {
  assetSaleParameters,
  templatePriceParameters,
  tradeDayParameters,
  tradeParameters,
} from '../parameters.ts'
import { assetSales, latestTrades, tradeDays } from '../aggregates/trades.ts'
import { inventoryPrices, sumPrices, templatePrices } from '../aggregates/prices.ts'
import { inventoryRecord } from '../records/stats-schemas.ts'
import {
  assetSaleRecord,
  priceDayRecord,
  priceSumRecord,
  templatePriceRecord,
  tradeRecord,
} from '../records/trade-records.ts'
import type { MarketSetup } from '../setup.ts'

/** Endpoints `/v1/prices/...`, and the endpoint of the trades of one asset. */
export function priceEndpoints(setup: MarketSetup): Endpoint[] {
  const attributes = ['data', 'template_data', 'immutable_data', 'mutable_data'] as const
  const all = assetListParameters(setup.assets.limits.assets)
  const assets = without(all, ['page', 'limit', 'order', 'sort', 'count', 'before', 'after'])
  const latest = endpoint({
    path: '/v1/prices/sales',
    tag: 'prices',
    summary: 'The 500 latest trades of single assets, the oldest of them first',
    parameters: tradeParameters,
    record: shape.list(tradeRecord.schema),
    run: ({ session, values }) => latestTrades(session, values),
  })
  return [
    latest,
    { ...latest, path: '/v1/prices' },
    endpoint({
      path: '/v1/prices/sales/days',
      tag: 'prices',
      summary: 'Trades of single assets by day (UTC) and token, the latest day first',
      parameters: tradeDayParameters,
      record: shape.list(priceDayRecord.schema),
      run: ({ session, values }) => tradeDays(session, values),
    }),
    endpoint({
      path: '/v1/prices/templates',
      tag: 'prices',
      summary: 'Prices of templates, by template and token',
      parameters: templatePriceParameters(setup.limits.prices_templates),
      record: shape.list(templatePriceRecord.schema),
      run: ({ session, values }) => templatePrices(session, setup, values),
    }),
    endpoint({
      path: '/v1/prices/assets',
      tag: 'prices',
      summary: 'Sums of the template prices of the matching assets, by token',
      parameters: assets,
      attributes,
      record: shape.list(priceSumRecord.schema),
      run: (context) => sumPrices(setup, context),
    }),
    endpoint({
      path: '/v1/prices/inventory/:account',
      tag: 'prices',
      summary: 'Sums of the template prices of the assets that an account owns, by collection and token',
      parameters: { account: inPath(text('Name of the account.')), ...assets },
      attributes,
      record: inventoryRecord,
      run: (context) => inventoryPrices(setup, context),
    }),
    endpoint({
      path: '/v1/assets/:asset_id/sales',
      tag: 'assets',
      summary: 'Trades of an asset',
      parameters: assetSaleParameters,
      record: shape.list(assetSaleRecord.schema),
      run: ({ session, values }) => assetSales(session, setup, values),
    }),
  ]
}
