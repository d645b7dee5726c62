import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { startApi } from '../../services/api/index.ts'
import { readingOf } from './reading.ts'
import type { Asset, Reading, Row } from './reading.ts'
import { apiConfig, ask, quiet, serveRecordings } from './server.ts'
import type { TestServer } from './server.ts'

const ASSETS = '/v1/assets?limit=1000&sort=asset_id&order=asc'
const TRANSFERS = '/v1/transfers?limit=100'

let server: TestServer
let writer: pg.Client
let get: Reading['get']
beforeAll(async () => {
  server = await serveRecordings(['main', 'v2'])
  writer = await connect()
  ;({ get } = readingOf(server))
})
afterAll(async () => {
  await writer.end()
  await server.close()
})

function connect(): Promise<pg.Client> {
  return connectDatabase(server.database.address, { applicationName: 'test' })
}

async function everyAsset(): Promise<Map<string, Asset>> {
  const assets = await get<Asset[]>(ASSETS)
  return new Map(assets.map((asset) => [asset.asset_id, asset]))
}

/** Requests the list of assets twice. The first request caches the fragments that the second request uses. */
async function cachedAssets(): Promise<Map<string, Asset>> {
  const first = await everyAsset()
  expect(await everyAsset()).toEqual(first)
  return first
}

/** An asset that has a template and attributes of its own. */
async function richAsset(): Promise<Asset & { readonly template: Row }> {
  const { rows } = await writer.query<{ id: string }>(
    `SELECT asset_id::text AS id FROM assets.assets
     WHERE template_id IS NOT NULL AND mutable_data IS NOT NULL AND owner IS NOT NULL ORDER BY asset_id LIMIT 1`,
  )
  return (await cachedAssets()).get(rows[0]!.id)! as Asset & { readonly template: Row }
}

describe('a list shows current records', () => {
  const changes: Record<
    string,
    { sql: (asset: Asset) => string; shown: (asset: Asset) => unknown; value: unknown }
  > = {
    'the asset changes': {
      sql: ({ asset_id: id }) => `UPDATE assets.assets SET owner = 'newowner' WHERE asset_id = ${id}`,
      shown: ({ owner }) => owner,
      value: 'newowner',
    },
    'the attributes of the asset change': {
      sql: ({ asset_id: id }) =>
        `UPDATE assets.assets SET mutable_data = '{"level":77}' WHERE asset_id = ${id}`,
      shown: ({ data, mutable_data: mutable }) => [(data as Row)['level'], mutable['level']],
      value: [77, 77],
    },
    'the collection of the asset changes': {
      sql: ({ collection }) =>
        `UPDATE assets.collections SET data = data || '{"name":"Another"}'
         WHERE collection_name = '${collection.collection_name}'`,
      shown: ({ collection }) => (collection as Row)['name'],
      value: 'Another',
    },
    'the schema of the asset changes': {
      sql: ({ collection, schema }) =>
        `UPDATE assets.schemas SET format = '[{"name":"only","type":"string"}]'
         WHERE collection_name = '${collection.collection_name}' AND schema_name = '${schema.schema_name}'`,
      shown: ({ schema }) => ((schema as Row)['format'] as Row[]).map(({ name }) => name),
      value: ['only'],
    },
    'the template of the asset changes': {
      sql: ({ template }) =>
        `UPDATE assets.templates SET issued_supply = 4711, mutable_data = '{"season":9}'
         WHERE template_id = ${template!.template_id}`,
      shown: ({ template, data }) => [(template as Row | null)?.['issued_supply'], (data as Row)['season']],
      value: ['4711', 9],
    },
    'the asset gets backed tokens': {
      sql: ({ asset_id: id }) =>
        `WITH token AS (INSERT INTO assets.tokens VALUES ('GEM', 4, 'gemtoken') RETURNING token_symbol)
         INSERT INTO assets.backed_tokens (asset_id, amount, token_symbol) SELECT ${id}, 9007199254740993, token_symbol FROM token`,
      shown: (asset) =>
        (asset['backed_tokens'] as Row[]).find(({ token_symbol: symbol }) => symbol === 'GEM'),
      value: {
        token_contract: 'gemtoken',
        token_symbol: 'GEM',
        token_precision: 4,
        // The JSON text of the answer contains all digits of the amount; `JSON.parse` rounds the amount to this double.
        amount: 9007199254740992,
      },
    },
  }
  it.each(Object.entries(changes))(
    'a list with cached fragments shows current records when %s',
    async (_, { sql, shown, value }) => {
      const before = await richAsset()
      expect(shown(before)).not.toEqual(value)
      await writer.query('BEGIN')
      await writer.query(sql(before))
      // The list does not show the change before the commit.
      expect((await cachedAssets()).get(before.asset_id)).toEqual(before)
      await writer.query('COMMIT')
      const after = (await cachedAssets()).get(before.asset_id)!
      expect(shown(after)).toEqual(value)
      expect(await get<Asset>(`/v1/assets/${before.asset_id}`)).toEqual(after)
    },
  )

  it('a list of transfers shows current records when an asset of a transfer changes or is deleted', async () => {
    const before = await get<Row[]>(TRANSFERS)
    expect(await get<Row[]>(TRANSFERS)).toEqual(before)
    const [asset] = before.flatMap(({ assets }) => assets as Asset[])
    const id = asset!.asset_id
    const seen = async (): Promise<unknown[]> => {
      const transfers = await get<Row[]>(TRANSFERS)
      const assets = transfers.flatMap((transfer) => transfer['assets'] as Asset[])
      return assets.filter((each) => each.asset_id === id)
    }
    await writer.query("UPDATE assets.assets SET owner = 'another' WHERE asset_id = $1", [id])
    for (const each of await seen()) expect(each).toMatchObject({ owner: 'another' })
    await writer.query('DELETE FROM assets.assets WHERE asset_id = $1', [id])
    const gone = await seen()
    expect(gone.length).toBeGreaterThan(0)
    for (const each of gone)
      expect(each).toMatchObject({ contract: 'atomicassets', asset_id: id, collection: null })
  })

  it('a list shows current records even if transactions commit in a different order than they began', async () => {
    const { asset_id: id } = await richAsset()
    const others = await Promise.all([connect(), connect(), connect()])
    const set = (client: pg.Client, column: string, value: string): Promise<unknown> =>
      client.query(
        `UPDATE assets.collections SET author = $1 WHERE collection_name = (
        SELECT collection_name FROM assets.assets ORDER BY asset_id ${column} LIMIT 1)`,
        [value],
      )
    try {
      for (const each of others) await each.query('BEGIN')
      // All transactions get their ids, in the order of `others`, before any of the transactions ends.
      for (const each of others) await each.query('SELECT pg_current_xact_id()')
      const authors: unknown[] = []
      for (const [place, client] of [others[2], others[1], others[0]].entries()) {
        await set(client, 'ASC', `author${place + 1}`)
        await client.query('COMMIT')
        authors.push(((await get<Asset[]>(ASSETS))[0]!.collection as Row)['author'])
      }
      expect(authors).toEqual(['author1', 'author2', 'author3'])
      expect((await cachedAssets()).has(id)).toBe(true)
    } finally {
      for (const each of others) await each.end()
    }
  })
})

describe('a market list shows current records', () => {
  const now = Date.now()
  /** One listing of each type, for an asset with a template. All prices depend on the oracle. */
  const rows = `
    TRUNCATE market.sales, market.auctions, market.bids, market.template_buyoffers, market.template_prices, market.tokens,
      market.symbol_pairs, oracle.pairs;
    INSERT INTO market.tokens VALUES ('COIN', 0, 8, 'coins');
    INSERT INTO oracle.pairs VALUES
      ('coinusd', 500, 1, 4, 'COIN', 8, 1, 'coins', 'USD', 2, 1, 'usd', true, true, true, 'proposer', '', '{}', '{}', 1, 1);
    INSERT INTO market.symbol_pairs VALUES ('USD', 'COIN', 0, 2, 8, 'coinusd', false);
    CREATE TEMPORARY TABLE listed AS SELECT a.* FROM assets.assets a
      WHERE template_id IS NOT NULL AND owner IS NOT NULL ORDER BY asset_id LIMIT 1;
    INSERT INTO market.sales SELECT i, i, i, 100, NULL, i, NULL, 0.05, 1, 1, a.template_id, 1, 1, 2, 8, 1, 1, 'seller', NULL,
        'USD', 'COIN', a.collection_name, a.schema_name, '', NULL, NULL, NULL, ARRAY[a.asset_id], ARRAY[a.template_id],
        ARRAY[a.schema_name] FROM listed a, generate_series(1, 2) i;
    INSERT INTO market.auctions SELECT i, i, i, ${Math.floor(now / 1_000) + 1_000}, 5, 5, 0.05, 1, 1, a.template_id, 1, 1, 1, 1,
        false, false, 'seller', NULL, 'COIN', a.collection_name, a.schema_name, '', NULL, NULL, NULL, ARRAY[a.asset_id],
        ARRAY[a.template_id], ARRAY[a.schema_name] FROM listed a, generate_series(1, 2) i;
    INSERT INTO market.template_buyoffers SELECT i, i, i, 7, NULL, 0.05, 1, 1, a.template_id, NULL, 0, NULL, 'buyer', 'COIN',
        a.collection_name, a.schema_name, '', NULL, NULL FROM listed a, generate_series(1, 2) i;
    INSERT INTO market.template_prices SELECT a.template_id, 'COIN', 3, 30, 10, 10, 9, 11, 10, 10, NULL, 10000000000,
        10000000000, a.collection_name, '{"USD":"200"}' FROM listed a`
  let market: (path: string) => Promise<Row[]>
  let close = (): Promise<void> => Promise.resolve()
  beforeAll(async () => {
    await writer.query(rows)
    const namespaces = [{ name: 'market', path: '/market', args: { market_account: 'atomicmarket' } }]
    const api = await startApi({ config: apiConfig(server.database.address, { namespaces }), logger: quiet })
    close = () => api.close()
    market = async (path) => {
      const { body } = await ask(`${api.url}/market${path}`)
      expect([path, body.success, (body.data as Row[]).length]).toEqual([path, true, 2])
      return body.data as Row[]
    }
  })
  afterAll(() => close())

  const SALES = '/v2/sales?state=1&sort=sale_id&order=asc'
  const AUCTIONS = '/v1/auctions?sort=auction_id&order=asc'
  const TEMPLATE_BUYOFFERS = '/v1/template_buyoffers?order=asc'
  const assetOf = ({ assets }: Row): Row => (assets as Row[])[0]!
  const amount = ({ price }: Row): unknown => (price as Row)['amount']
  const suggested = (listing: Row): unknown => (assetOf(listing)['prices'] as Row[])[0]!['suggested_median']
  const changes: Record<
    string,
    [list: string, sql: string, shown: (listing: Row) => unknown, value: unknown]
  > = {
    'a sale changes': [SALES, "UPDATE market.sales SET buyer = 'buyer'", ({ buyer }) => buyer, 'buyer'],
    'the oracle publishes another median for the sale': [
      SALES,
      'UPDATE oracle.pairs SET median = 250',
      amount,
      '4000000000',
    ],
    'the oracle publishes another median for the prices of the template': [
      SALES,
      'UPDATE oracle.pairs SET median = 100',
      suggested,
      '10000000000',
    ],
    'the oracle removes its median': [SALES, 'UPDATE oracle.pairs SET median = NULL', amount, null],
    'the oracle publishes an inverted pair with more than 16 decimal places': [
      SALES,
      `UPDATE oracle.pairs SET median = 5000000000000000000, median_precision = 12;
        UPDATE market.symbol_pairs SET invert_pair = true`,
      amount,
      '500',
    ],
    'the oracle publishes the median 0': [SALES, 'UPDATE oracle.pairs SET median = 0', amount, null],
    'the prices of the template change': [
      SALES,
      'UPDATE market.template_prices SET trades = 77',
      (listing) => (assetOf(listing)['prices'] as Row[])[0]!['sales'],
      '77',
    ],
    'the prices of the template are deleted': [
      SALES,
      'DELETE FROM market.template_prices',
      (listing) => assetOf(listing)['prices'],
      [],
    ],
    'the seller deploys code': [
      SALES,
      "INSERT INTO chain.code_accounts VALUES ('seller', 1, 'test')",
      (listing) => listing['is_seller_contract'],
      true,
    ],
    'the collection changes its fee': [
      SALES,
      'UPDATE assets.collections SET market_fee = 0.15',
      (listing) => [listing['current_collection_fee'], (listing['collection'] as Row)['market_fee']],
      [0.15, 0.05],
    ],
    'the asset of a sale changes': [
      SALES,
      "UPDATE assets.assets SET owner = 'next'",
      (listing) => assetOf(listing)['owner'],
      'next',
    ],
    'an account bids': [
      AUCTIONS,
      'INSERT INTO market.bids SELECT 10 + i, i, 6, bidder FROM generate_series(1, 2) i, (VALUES ($$bidder$$)) b(bidder)',
      ({ bids }) => (bids as Row[]).map(({ account }) => account),
      ['bidder'],
    ],
    'an auction ends': [AUCTIONS, 'UPDATE market.auctions SET end_time = 1', ({ state }) => state, 4],
    'a template buy offer changes its state': [
      TEMPLATE_BUYOFFERS,
      'UPDATE market.template_buyoffers SET state = 1',
      ({ state }) => state,
      1,
    ],
    'the template of a template buy offer changes': [
      TEMPLATE_BUYOFFERS,
      'UPDATE assets.templates SET issued_supply = 4712',
      ({ template }) => (template as Row)['issued_supply'],
      '4712',
    ],
  }
  it.each(Object.entries(changes))(
    'a market list with cached fragments shows current records when %s',
    async (_, [list, sql, shown, value]) => {
      const before = await market(list)
      // Later requests use the cached fragments, whatever their page size.
      expect([await market(list), await market(`${list}&limit=2`)]).toEqual([before, before])
      expect(before.map(shown)).not.toEqual([value, value])
      await writer.query('BEGIN')
      await writer.query(sql)
      expect(await market(list)).toEqual(before)
      await writer.query('COMMIT')
      const after = await market(list)
      expect(after.map(shown)).toEqual([value, value])
      expect(await market(`${list}&limit=2`)).toEqual(after)
    },
  )
})
