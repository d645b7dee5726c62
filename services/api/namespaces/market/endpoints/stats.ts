import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { accountStats, oneAccountStats } from '../aggregates/account-stats.ts'
import { collectionStats, saleStats } from '../aggregates/collection-stats.ts'
import { graph, marketStats } from '../aggregates/market-stats.ts'
import { schemaStats, schemaStatsV2 } from '../aggregates/schema-stats.ts'
import { statsParameters } from '../aggregates/parameters.ts'
import { templateStats } from '../aggregates/template-stats.ts'
import { withToken } from '../aggregates/token.ts'
import { statsRecords } from '../records/stats-schemas.ts'
import type { MarketSetup } from '../setup.ts'

const noCollection = { status: 416, message: 'Collection Not Found' } as const
const TAG = 'stats'
/** Endpoints `/v1/stats/...` and `/v2/stats/...`. */
export function statsEndpoints(setup: MarketSetup): Endpoint[] {
  return [
    ...collectionEndpoints(setup),
    ...accountEndpoints(),
    ...templateEndpoints(setup),
    ...marketEndpoints(setup),
  ]
}

function collectionEndpoints(setup: MarketSetup): Endpoint[] {
  return [
    endpoint({
      path: '/v1/stats/collections',
      tag: TAG,
      summary: 'Trades by collection, ranked by `sort`',
      parameters: statsParameters.collections,
      record: statsRecords.collections,
      run: (context) =>
        withToken(context, 'results', async (token) => {
          const records = await collectionStats(context, setup, token, context.values.collection_name)
          return `[${records.join(',')}]`
        }),
    }),
    endpoint({
      path: '/v1/stats/collections/:collection_name',
      tag: TAG,
      summary: 'Trades of one collection',
      parameters: statsParameters.collection,
      record: statsRecords.collection,
      failures: [noCollection],
      run: (context) =>
        withToken(context, 'result', async (token) => {
          const only = context.values.collection_name
          const [record] = await collectionStats(context, setup, token, only)
          if (record === undefined) throw new RequestError(noCollection.status, noCollection.message)
          return record
        }),
    }),
    endpoint({
      path: '/v1/stats/schemas/:collection_name',
      tag: TAG,
      summary: 'Sold sales and open sales by schema of a collection, ranked by `sort`',
      parameters: statsParameters.schemas,
      record: statsRecords.schemas,
      run: (context) => withToken(context, 'results', (token) => schemaStats(context, setup, token)),
    }),
    endpoint({
      path: '/v2/stats/schemas/:collection_name',
      tag: TAG,
      summary: 'Trades of single assets by schema of a collection, ranked by `sort`',
      parameters: statsParameters.schemasV2,
      record: statsRecords.schemasV2,
      run: (context) => withToken(context, 'results', (token) => schemaStatsV2(context, setup, token)),
    }),
  ]
}

function accountEndpoints(): Endpoint[] {
  return [
    endpoint({
      path: '/v1/stats/accounts',
      tag: TAG,
      summary: 'Sums of purchases and sales by account, ranked by `sort`',
      parameters: statsParameters.accounts,
      record: statsRecords.accounts,
      run: (context) => withToken(context, 'results', (token) => accountStats(context, token)),
    }),
    endpoint({
      path: '/v1/stats/accounts/:account',
      tag: TAG,
      summary: 'Sums of the purchases and sales of one account',
      parameters: statsParameters.account,
      record: statsRecords.account,
      run: (context) => withToken(context, 'result', (token) => oneAccountStats(context, token)),
    }),
  ]
}

function templateEndpoints(setup: MarketSetup): Endpoint[] {
  return [
    endpoint({
      path: '/v1/stats/templates',
      tag: TAG,
      summary: 'Trades of single assets by template, ranked by `sort`',
      parameters: statsParameters.templates,
      attributes: ['data', 'template_data'],
      record: statsRecords.templates,
      run: (context) => withToken(context, 'results', (token) => templateStats(context, setup, token)),
    }),
  ]
}

function marketEndpoints(setup: MarketSetup): Endpoint[] {
  return [
    endpoint({
      path: '/v1/stats/markets',
      tag: TAG,
      summary: 'Trades by marketplace, largest volume first',
      parameters: statsParameters.markets,
      record: statsRecords.markets,
      run: (context) => withToken(context, 'results', (token) => marketStats(context, setup, token)),
    }),
    endpoint({
      path: '/v1/stats/graph',
      tag: TAG,
      summary: 'Trades by day (UTC), the oldest first',
      parameters: statsParameters.graph,
      record: statsRecords.graph,
      cacheLifeFactor: 60,
      run: (context) => withToken(context, 'results', (token) => graph(context, token)),
    }),
    endpoint({
      path: '/v1/stats/sales',
      tag: TAG,
      summary: 'Totals of sold sales; auctions and buy offers are not counted',
      parameters: statsParameters.sales,
      record: statsRecords.sales,
      run: (context) => withToken(context, 'result', (token) => saleStats(context, token)),
    }),
  ]
}
