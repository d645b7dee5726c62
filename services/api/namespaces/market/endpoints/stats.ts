import type { Endpoint, Parameter } from '../../../endpoint/index.ts'
import { RequestError, SEARCH_LENGTH } from '../../../endpoint/index.ts'
import { boundaries, paging, templateNameSearch } from '../../parameter-groups/index.ts'
import { collectionLists, statsSymbol, tradeTimes } from '../parameters.ts'
import {
  accountStats,
  collectionStats,
  graph,
  marketStats,
  oneAccountStats,
  saleStats,
  schemaStats,
  schemaStatsV2,
  templateStats,
  withToken,
} from '../statistics/index.ts'
import { statsRecords } from '../records/index.ts'
import type { MarketSetup } from '../setup.ts'

const NO_COLLECTION = { status: 416, message: 'Collection Not Found' } as const
/** Largest pages; no setting changes them. */
const MAX_RANKED = 100
const MAX_TEMPLATES = 1000

const tag = 'stats'
const names = { type: 'name', list: 'named' } as const
const collectionName: Parameter = {
  name: 'collection_name',
  ...names,
  description: 'Collection is one of these.',
}
const collectionPath: Parameter = {
  name: 'collection_name',
  in: 'path',
  type: 'name',
  description: 'Collection.',
}
const collectionsPath: Parameter = {
  ...collectionPath,
  list: 'named',
  description: 'Collection; of several, the one with most trades.',
}

function ranking(sorts: readonly string[]): Parameter {
  return {
    name: 'sort',
    type: 'string',
    default: sorts[0]!,
    values: sorts,
    description: 'What is ranked by, the most first.',
  }
}

const collectionSearch: readonly Parameter[] = [
  { name: 'match', type: 'name', description: 'The collection name contains this text.' },
  {
    name: 'search',
    type: 'string',
    minimum: 1,
    maximum: SEARCH_LENGTH,
    description: 'Words like these in the collection name or the shown name.',
  },
]

/** `/v1/stats/...` and `/v2/stats/...`. */
export function statsEndpoints(setup: MarketSetup): Endpoint[] {
  return [
    ...collectionEndpoints(setup),
    ...accountEndpoints(),
    ...templateEndpoints(setup),
    ...marketEndpoints(setup),
  ]
}

function collectionEndpoints(setup: MarketSetup): Endpoint[] {
  const own = [statsSymbol, ...tradeTimes, ...collectionSearch, ...collectionLists]
  const sort = ranking(['volume', 'sales'])
  return [
    {
      path: '/v1/stats/collections',
      tag,
      summary: 'Trades by collection, the most first',
      parameters: [...own, collectionName, sort, ...paging(MAX_RANKED)],
      record: statsRecords.collections,
      run: (context) =>
        withToken(context, 'results', async (token) => {
          const records = await collectionStats(
            context,
            setup,
            token,
            context.values.texts('collection_name'),
          )
          return `[${records.join(',')}]`
        }),
    },
    {
      path: '/v1/stats/collections/:collection_name',
      tag,
      summary: 'Trades of one collection',
      parameters: [collectionsPath, ...own, sort, ...paging(MAX_RANKED)],
      record: statsRecords.collection,
      failures: [NO_COLLECTION],
      run: (context) =>
        withToken(context, 'result', async (token) => {
          const only = context.values.texts('collection_name')
          const [record] = await collectionStats(context, setup, token, only)
          if (record === undefined) throw new RequestError(NO_COLLECTION.status, NO_COLLECTION.message)
          return record
        }),
    },
    {
      path: '/v1/stats/schemas/:collection_name',
      tag,
      summary: 'Sales and listings by schema of a collection, the most first',
      parameters: [
        collectionPath,
        statsSymbol,
        ...tradeTimes,
        { name: 'match', type: 'name', description: 'The schema name contains this text.' },
        ranking(['volume', 'listings']),
        ...paging(MAX_RANKED),
      ],
      record: statsRecords.schemas,
      run: (context) => withToken(context, 'results', (token) => schemaStats(context, setup, token)),
    },
    {
      path: '/v2/stats/schemas/:collection_name',
      tag,
      summary: 'Trades of single assets by schema of a collection, the most first',
      parameters: [
        collectionPath,
        statsSymbol,
        ...tradeTimes,
        ranking(['volume', 'sales']),
        ...paging(MAX_RANKED),
      ],
      record: statsRecords.schemasV2,
      run: (context) => withToken(context, 'results', (token) => schemaStatsV2(context, setup, token)),
    },
  ]
}

function accountEndpoints(): Endpoint[] {
  return [
    {
      path: '/v1/stats/accounts',
      tag,
      summary: 'What accounts bought and sold, the most first',
      parameters: [
        statsSymbol,
        ...tradeTimes,
        { ...collectionName, description: 'Collection is one of these or of collection_whitelist.' },
        ...collectionLists,
        ranking(['sell_volume', 'buy_volume']),
        ...paging(MAX_RANKED),
      ],
      record: statsRecords.accounts,
      run: (context) => withToken(context, 'results', (token) => accountStats(context, token)),
    },
    {
      path: '/v1/stats/accounts/:account',
      tag,
      summary: 'What one account bought and sold',
      parameters: [
        { name: 'account', in: 'path', type: 'name', description: 'Account.' },
        statsSymbol,
        ...collectionLists,
      ],
      record: statsRecords.account,
      run: (context) => withToken(context, 'result', (token) => oneAccountStats(context, token)),
    },
  ]
}

function templateEndpoints(setup: MarketSetup): Endpoint[] {
  const keys = boundaries({ name: 'template_id', type: 'id' }).filter(
    ({ name }) => name !== 'before' && name !== 'after',
  )
  return [
    {
      path: '/v1/stats/templates',
      tag,
      summary: 'Trades of single assets by template, the most first',
      parameters: [
        statsSymbol,
        ...tradeTimes,
        collectionName,
        { name: 'schema_name', ...names, description: 'Schema is one of these.' },
        ...keys,
        ...collectionLists,
        ...templateNameSearch,
        {
          name: 'hide_unlisted_templates',
          type: 'bool',
          description: 'true: only templates with a listed sale.',
        },
        ranking(['volume', 'sales']),
        ...paging(MAX_TEMPLATES),
      ],
      attributes: ['data', 'template_data'],
      record: statsRecords.templates,
      run: (context) => withToken(context, 'results', (token) => templateStats(context, setup, token)),
    },
  ]
}

function marketEndpoints(setup: MarketSetup): Endpoint[] {
  const marketplace = { type: 'string', minimum: 1 } as const
  return [
    {
      path: '/v1/stats/markets',
      tag,
      summary: 'Trades by marketplace, the most first',
      parameters: [statsSymbol, ...tradeTimes, ...collectionLists],
      record: statsRecords.markets,
      run: (context) => withToken(context, 'results', (token) => marketStats(context, setup, token)),
    },
    {
      path: '/v1/stats/graph',
      tag,
      summary: 'Trades by day (UTC), the oldest first',
      parameters: [
        statsSymbol,
        ...tradeTimes,
        ...collectionLists,
        { name: 'maker_marketplace', ...marketplace, description: 'Marketplace of the listing.' },
        { name: 'taker_marketplace', ...marketplace, description: 'Marketplace of the purchase.' },
      ],
      record: statsRecords.graph,
      cacheLifeFactor: 60,
      run: (context) => withToken(context, 'results', (token) => graph(context, token)),
    },
    {
      path: '/v1/stats/sales',
      tag,
      summary: 'All sales, without auctions and buy offers',
      parameters: [statsSymbol, ...collectionLists],
      record: statsRecords.sales,
      run: (context) => withToken(context, 'result', (token) => saleStats(context, token)),
    },
  ]
}
