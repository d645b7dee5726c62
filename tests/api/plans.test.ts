import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { benchNamespaces } from '../../scripts/bench/families.ts'
import { generateDatabase, scaledSizes } from '../../scripts/bench/generated/index.ts'
import {
  addressOf,
  bigTables,
  explain,
  fewerCases,
  pickExamples,
  requestCases,
  scansOf,
} from '../../scripts/bench/requests/index.ts'
import type { Examples, RequestCase } from '../../scripts/bench/requests/index.ts'
import { createNamespace } from '../../services/api/index.ts'
import type { Endpoint } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

/** Endpoints of a contract family. */
function endpointsOf(family: 'assets' | 'market'): readonly Endpoint[] {
  const { config } = parseConfig({ server: { namespaces: benchNamespaces(family) } })
  return config.server.namespaces.flatMap(
    (entry) => createNamespace(entry, { trigrams: true })?.endpoints ?? [],
  )
}

/**
 * Filters that exclude few rows: a count with them scans the table, within the time limit of a query. Lists with them
 * find their first page at once.
 */
const countedByScanning: Readonly<Record<string, readonly string[]>> = {
  '/v1/assets/_count': ['hide_templates_by_accounts'],
  '/v1/offers/_count': [
    ...['account_blacklist', 'collection_blacklist', 'hide_contracts', 'is_burnable', 'is_transferable'],
    ...[
      'sender_asset_blacklist',
      'recipient_asset_blacklist',
      'sender_asset_whitelist',
      'recipient_asset_whitelist',
    ],
  ],
  ...Object.fromEntries(
    ['/v2/sales/_count', '/v1/auctions/_count', '/v1/buyoffers/_count', '/v1/template_buyoffers/_count'].map(
      (path) => [
        path,
        [
          ...['burned', 'is_burnable', 'is_transferable', 'hide_templates_by_accounts', 'template_blacklist'],
          ...[
            'buyer_blacklist',
            'seller_blacklist',
            'max_template_mint',
            'min_assets',
            'max_assets',
            'symbol',
            'hide_empty_auctions',
          ],
          // Few template buy offers have an asset; a filter on attributes checks the data of these assets row by row.
          ...(path === '/v1/template_buyoffers/_count'
            ? [
                ...[
                  'immutable_data.rarity',
                  'immutable_data.serial',
                  'immutable_data.no such',
                  'schema_name',
                ],
                ...['mutable_data:number.level', 'mutable_data.status', 'mutable_data.no such'],
                ...['match_immutable_name', 'match_mutable_name'],
              ]
            : []),
        ],
      ],
    ),
  ),
  '/v1/royalties/payouts/_count': [''],
  // If `/v1/templates` is sorted by id and filtered by `after`, it first reads all templates that were created before
  // the time `after`. A count reads all templates.
  '/v1/templates': ['after'],
  '/v1/templates/_count': [
    ...['', 'account_blacklist', 'after', 'before', 'collection_blacklist'],
    ...['has_assets', 'is_burnable', 'is_transferable', 'max_supply'],
  ],
  '/v1/transfers/_count': ['hide_contracts', 'is_burnable', 'is_transferable'],
}

const endpoints = endpointsOf('assets')
/**
 * Market endpoints to check. Paths that share a list with others are left out: older paths of sales, and lists of the
 * assets namespace.
 */
const marketEndpoints = endpointsOf('market').filter(
  ({ path }) => !/^\/v1\/(?:assets|offers|transfers)(?:\/|$)|^\/v[01]\/sales(?:\/_count)?$/.test(path),
)
let database: TestDatabase
let client: pg.Client
let examples: Examples
let cases: readonly RequestCase[]
let marketCases: readonly RequestCase[]
beforeAll(async () => {
  database = await createTestDatabase()
  await generateDatabase(database.address, { sizes: scaledSizes(0.02), seed: 'plans' })
  client = await connectDatabase(database.address, { applicationName: 'test' })
  examples = await pickExamples(client)
  cases = fewerCases(requestCases(endpoints, examples))
  marketCases = inTurns(fewerCases(requestCases(marketEndpoints, examples)))
  // The test tables are so small that PostgreSQL prefers sequential scans. With sequential scans disabled, a sequential
  // scan in a plan shows that no index is usable.
  await client.query('SET enable_seqscan = off; SET jit = off; SET random_page_cost = 1.1')
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

/** URLs of requests that scan a big table, with the tables. */
async function scannedBy(requests: readonly RequestCase[]): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const request of requests) {
    const { scans } = await scansOf(client, request)
    const big = scans.filter(({ table }) => bigTables.has(table)).map(({ table }) => table)
    if (big.length > 0) found[addressOf(request)] = big
  }
  return found
}

/** Selects every sort without a filter, and every filter with one sort in turn. */
function inTurns(requests: readonly RequestCase[]): RequestCase[] {
  const turns = new Map<string, number>()
  const sorts = new Map<string, string[]>()
  for (const { endpoint, sort } of requests) {
    const known = sorts.get(endpoint.path) ?? []
    if (!known.includes(sort)) sorts.set(endpoint.path, [...known, sort])
  }
  return requests.filter(({ endpoint: { path }, filter, sort }) => {
    if (filter === '') return true
    const name = `${path} ${filter}`
    if (!turns.has(name)) turns.set(name, turns.size)
    const all = sorts.get(path)!
    return all[turns.get(name)! % all.length] === sort
  })
}

describe('assets endpoints scan no big table, with every sort and every single filter', () => {
  const paths = [...new Set(endpoints.map(({ path }) => path))]
  it.each(paths)('the endpoint %s of assets scans no big table', async (path) => {
    const scanning = countedByScanning[path] ?? []
    const requests = cases.filter(
      ({ endpoint, filter }) => endpoint.path === path && !scanning.includes(filter),
    )
    expect(requests).not.toEqual([])
    expect(await scannedBy(requests)).toEqual({})
  })
})

/**
 * Filters that match no first rows of an order, or very many rows. `most` is the limit of rows or index entries that a
 * statement may read. The tables have 20,000 assets, 60,000 transfers, 1,200 accounts and 7,000 accounts by collection.
 * In the order of mint numbers every schema is an index range, and the list reads a page of rows of each range. In
 * descending order the supplies of templates bound the ranges.
 */
const readInPart = [
  { path: '/v1/accounts', sort: '', order: '', filter: 'collection_blacklist', most: 6_000 },
  { path: '/v1/accounts', sort: '', order: '', filter: 'is_burnable', most: 2_000 },
  { path: '/v1/assets', sort: 'template_mint', order: 'asc', filter: 'min_template_mint', most: 5_000 },
  { path: '/v1/assets', sort: 'template_mint', order: 'desc', filter: 'max_template_mint', most: 5_000 },
  { path: '/v1/assets', sort: 'template_mint', order: 'desc', filter: '', most: 500 },
  { path: '/v1/assets', sort: 'template_mint', order: 'desc', filter: 'has_template_buyoffer', most: 500 },
  { path: '/v1/assets', sort: 'transferred', order: 'asc', filter: 'burned', most: 3_000 },
  { path: '/v1/offers', sort: 'updated', order: 'desc', filter: 'is_recipient_contract', most: 2_100 },
  { path: '/v1/transfers', sort: 'created', order: 'desc', filter: 'is_transferable', most: 1_500 },
]

describe('a list reads a bounded part of the big tables, also if few of the first rows match the filter', () => {
  it.each(readInPart)(
    '$path reads a bounded part of the big tables with sort $sort $order and filter $filter',
    async ({ path, sort, order, filter, most }) => {
      const all = requestCases(endpoints, examples).filter(
        (request) =>
          request.endpoint.path === path &&
          request.filter === filter &&
          [request.sort, request.order].join() === [sort, order].join(),
      )
      expect(all).not.toEqual([])
      const parts = new Map([...bigTables].map((table) => [table, most]))
      for (const request of all) {
        const { scans } = await scansOf(client, request, parts)
        const read = scans.filter(({ table }) => bigTables.has(table)).map((scan) => [scan.table, scan.read])
        expect([addressOf(request), read]).toEqual([addressOf(request), []])
      }
    },
  )
})

describe('market endpoints scan no big table, with every sort and every single filter', () => {
  const paths = [...new Set(marketEndpoints.map(({ path }) => path))]
  it.each(paths)('the endpoint %s of the market scans no big table', async (path) => {
    const scanning = countedByScanning[path] ?? []
    const requests = marketCases.filter(
      ({ endpoint, filter }) => endpoint.path === path && !scanning.includes(filter),
    )
    expect(requests).not.toEqual([])
    expect(await scannedBy(requests)).toEqual({})
  })
})

describe('the requests of the query plan tests', () => {
  it('the requests of the query plan tests use every parameter of every endpoint', () => {
    for (const { path, parameters } of endpoints) {
      const asked = new Set(
        cases
          .filter(({ endpoint }) => endpoint.path === path)
          .flatMap(({ query, segments }) => [...Object.keys(query), ...Object.keys(segments)]),
      )
      const unasked = Object.keys(parameters).filter(
        (name) => !asked.has(name) && !['page', 'limit', 'count'].includes(name),
      )
      const isCount = path.endsWith('/_count')
      expect([path, isCount ? unasked.filter((name) => !['sort', 'order'].includes(name)) : unasked]).toEqual(
        [path, []],
      )
    }
  })

  it('the tests of query plans use filters on owner, collection and name that match assets', async () => {
    const typical = cases.filter(
      ({ endpoint, filter }) =>
        endpoint.path === '/v1/assets' && ['owner', 'collection_name', 'match'].includes(filter),
    )
    expect(typical.length).toBeGreaterThan(0)
    for (const request of typical.filter(({ sort }) => sort !== 'original_mint')) {
      const { data } = await scansOf(client, request)
      expect([addressOf(request), data === '[]']).toEqual([addressOf(request), false])
    }
  })

  it('the check of query plans reports a scan of a big table', async () => {
    const scans = await explain(client, "SELECT 1 FROM assets.assets WHERE ram_payer = 'x'")
    expect(scans.map(({ table }) => table)).toEqual(['assets'])
  })
})
