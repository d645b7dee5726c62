import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { benchNamespaces } from '../../scripts/bench/families.ts'
import { generateDatabase, scaledSizes } from '../../scripts/bench/generated/index.ts'
import type { Session, Statement, Endpoint } from '../../services/api/index.ts'
import type { Sql } from '../../services/api/sql/sql.ts'
import { raw, sql, where } from '../../services/api/sql/sql.ts'
import { readAttributeFilters, readRequest, createNamespace } from '../../services/api/index.ts'
import type { EndpointContext } from '../../services/api/endpoint/endpoint.ts'
import type { ChoosePath, List, ListReader } from '../../services/api/planner/list.ts'
import type { Filter } from '../../services/api/planner/filters/filter.ts'
import { createListReader } from '../../services/api/namespaces/nft/endpoints/list-reader.ts'
import { countedList, listingList } from '../../services/api/namespaces/market/lists/listing-list.ts'
import { listingTables, marketTables } from '../../services/api/namespaces/market/lists/listing-table.ts'
import type { ListingKind } from '../../services/api/namespaces/market/lists/listing-table.ts'
import { payoutList } from '../../services/api/namespaces/market/lists/payout-list.ts'
import { withoutCommon } from '../../services/api/namespaces/market/lists/listing-request.ts'
import { inRange, tradeRange } from '../../services/api/namespaces/market/aggregates/trade-range.ts'
import { selectCheapest } from '../../services/api/namespaces/market/lists/cheapest-sales.ts'
import { sumInRange } from '../../services/api/namespaces/market/aggregates/trade-sums.ts'
import { tradeDays } from '../../services/api/namespaces/market/aggregates/trades.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type {
  cheapestParameters,
  listingParameters,
  payoutParameters,
} from '../../services/api/namespaces/market/parameters.ts'
import { without } from '../../services/core/endpoint/index.ts'
import type { Parameters } from '../../services/core/endpoint/index.ts'
import { createRandom } from '../integration/seeded-random.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { sessionOf } from './client-session.ts'
import { forcedPaths } from './forced-paths.ts'
import { addManyTemplates } from './many-templates.ts'
import { orOfNoRow } from './values-of-no-row.ts'
import { patient } from '../setup/patience.ts'
import { rounds } from '../setup/rounds.ts'
import { roundsOfSeed, seedsBeside } from '../setup/seeds.ts'

const REQUESTS = Number(process.env['LIST_REQUESTS'] ?? rounds(4, 60))
const REQUESTS_OF_SEED = Number(process.env['LIST_REQUESTS'] ?? roundsOfSeed(4, 60))
const SEED = 11
const families = ['data', 'template_data', 'immutable_data', 'mutable_data'] as const
/** Fixed current time: some auctions of the generated database end after it. */
const clock = () => Date.UTC(2030, 0, 1)

type Query = Readonly<Record<string, string>>

let database: TestDatabase
let client: pg.Client
let session: Session
let endpoints: readonly Endpoint[]
beforeAll(async () => {
  database = await createTestDatabase()
  await generateDatabase(database.address, { sizes: scaledSizes(0.02), seed: 'market-lists' })
  client = await connectDatabase(database.address, { applicationName: 'test' })
  await addManyTemplates(client)
  // Adds two price pairs: one converts different listing prices to equal prices, the other one has no rate.
  await client.query(`
    INSERT INTO oracle.pairs SELECT (jsonb_populate_record(p, jsonb_build_object('pair_name', n.name, 'median', n.median))).*
      FROM oracle.pairs p CROSS JOIN (VALUES ('coarse', 48000000000000::bigint), ('unknown', NULL)) n(name, median) LIMIT 2;
    INSERT INTO market.symbol_pairs SELECT 'USD', 'KARMA', 8, 2, 4, 'coarse', false UNION ALL SELECT 'KARMA', 'WAX', 9, 4, 8, 'unknown', false;
    UPDATE market.sales SET listing_symbol = 'USD', settlement_symbol = 'KARMA', listing_price = listing_price * 1000, price = NULL
      WHERE sale_id % 11 = 3 AND state <> 3;
    UPDATE market.sales SET listing_symbol = 'KARMA', settlement_symbol = 'WAX', price = NULL WHERE sale_id % 97 = 5 AND state <> 3;
    UPDATE market.sales SET listing_symbol = 'EUR', settlement_symbol = 'WAX', price = NULL WHERE sale_id % 97 = 6 AND state <> 3;
    UPDATE market.sales SET created_at_time = created_at_time / 100000000 * 100000000;
    UPDATE market.sales SET listing_price = 77, price = 77, (listing_symbol, settlement_symbol) = (SELECT s, s FROM (SELECT CASE sale_id % 2 WHEN 0 THEN 'WAX' ELSE 'KARMA' END s) x) WHERE template_id % 3 = 0 AND listing_symbol = settlement_symbol;
    ANALYZE; SET jit = off; SET random_page_cost = 1.1`)
  session = sessionOf(client)
  const { config } = parseConfig({ server: { namespaces: benchNamespaces('market') } })
  endpoints = config.server.namespaces.flatMap(
    (entry) => createNamespace(entry, { trigrams: true })?.endpoints ?? [],
  )
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Picks filter values from a random listing (`l`) that satisfies the SQL condition, from its assets and other rows. */
async function poolOf(
  kind: ListingKind,
  random: () => number,
  condition: string,
): Promise<Record<string, string | undefined>> {
  const { table, key, symbol, mints } = listingTables[kind]
  const ids = kind === 'template_buyoffer' ? 'ARRAY[l.asset_id]' : 'l.asset_ids'
  const { rows } = await client.query<Record<string, unknown>>(
    `SELECT l.*, l.${key}::text AS id, l.${symbol} AS symbol, l.${mints[0]} AS mint, a.owner, a.minter, a.initial_receiver,
        a.burned_by_account, a.asset_id::text AS asset, a.immutable_data, a.mutable_data, t.immutable_data AS template_data, a.schema_name AS schema,
        coalesce(l.template_id, a.template_id) AS template_id
      FROM ${table} l LEFT JOIN assets.assets a ON a.asset_id = (${ids})[1]
        LEFT JOIN assets.templates t ON t.template_id = coalesce(a.template_id, l.template_id)
      WHERE ${condition} OFFSET floor($1::float8 * (SELECT count(*) FROM ${table} l WHERE ${condition})) LIMIT 3`,
    [random() * 0.99],
  )
  const [row] = rows
  const text = (name: string, of = row): string | undefined => {
    const value = of?.[name] as string | number | null | undefined
    return value === null || value === undefined ? undefined : String(value)
  }
  const several = (name: string): string | undefined => {
    const all = rows.map((each) => text(name, each)).filter((each) => each !== undefined)
    return all.length === 0 ? undefined : all.join(',')
  }
  const data = (name: string, key: string): string | undefined =>
    (row?.[name] as Record<string, string | number> | undefined)?.[key]?.toString()
  const either = (name: string): string | undefined => (random() < 0.6 ? text(name) : several(name))
  const name = data('template_data', 'name') ?? text('name') ?? 'a'
  const flag = (): string => (random() < 0.5 ? 'true' : 'false')
  const id = BigInt(text('id')!)
  return {
    state: ['0', '1', '2', '3', '1,4', '0,4', '7'][Math.floor(random() * 7)],
    seller: either('seller'),
    buyer: either('buyer'),
    account: either('seller'),
    seller_blacklist: text('seller'),
    buyer_blacklist: text('buyer'),
    show_seller_contracts: 'false',
    contract_whitelist: text('seller'),
    maker_marketplace: text('maker_marketplace') === '' ? undefined : text('maker_marketplace'),
    taker_marketplace: text('taker_marketplace') === '' ? undefined : text('taker_marketplace'),
    marketplace: 'market.two,market.tiny',
    symbol: text('symbol'),
    collection_name: either('collection_name'),
    collection_whitelist: several('collection_name'),
    collection_blacklist: several('collection_name'),
    schema_name: either('schema'),
    template_id: random() < 0.2 ? 'null' : either('template_id'),
    template_blacklist: several('template_id'),
    hide_templates_by_accounts: several('owner'),
    min_template_mint: '2',
    max_template_mint: text('mint'),
    min_assets: random() < 0.5 ? '2' : '1',
    max_assets: random() < 0.5 ? '1' : '2',
    asset_id: either('asset'),
    owner: either('owner'),
    burned: flag(),
    is_transferable: flag(),
    is_burnable: flag(),
    minter: text('minter'),
    initial_receiver: text('initial_receiver'),
    burner: text('burned_by_account'),
    'template_data.rarity': data('template_data', 'rarity'),
    'data:number.power': data('template_data', 'power'),
    'immutable_data.rarity': data('immutable_data', 'rarity'),
    'immutable_data.serial': data('immutable_data', 'serial'),
    'mutable_data:number.level': data('mutable_data', 'level'),
    match: name.slice(0, 4),
    search: name.split(' ').at(-1),
    match_immutable_name: name.slice(1, 3),
    match_mutable_name: 'a',
    lower_bound: String(id > 300n ? id - 300n : 1n),
    upper_bound: String(id + 500n),
    ids: several('id'),
    after: text('created_at_time'),
    before: text('updated_at_time'),
    ...(kind === 'auction'
      ? { bidder: text('buyer'), participant: either('seller')?.split(',')[0], hide_empty_auctions: 'true' }
      : {}),
  }
}

/** Draws a listing type's filters; most have values of an existing listing. */
async function pickFilters(kind: ListingKind, random: () => number): Promise<Query> {
  // 40 % of the sale filters select open sales: clients request them most, and they have indexes of their own.
  const isOpen = kind === 'sale' && random() < 0.4
  const condition = isOpen ? `l.state = 1${random() < 0.4 ? ' AND l.asset_count > 1' : ''}` : 'true'
  const pool = await poolOf(kind, random, condition)
  const given = Object.entries(pool).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const chosen: Record<string, string> = isOpen ? { state: '1' } : {}
  const count = Math.floor(random() * 5)
  for (let i = 0; i < count; i++) {
    const [name, value] = given[Math.floor(random() * given.length)]!
    chosen[name] = orOfNoRow(name, value, random)
  }
  if (random() < 0.15) {
    Object.assign(chosen, { symbol: pool['symbol'] ?? 'WAX' })
    if (random() < 0.7) chosen['min_price'] = String(1 + Math.floor(random() * 10))
    if (random() < 0.7) chosen['max_price'] = String(20 + Math.floor(random() * 500))
  }
  if (random() < 0.05 && pool['collection_name']) {
    Object.assign(chosen, { collection_name: pool['collection_name'], max_effective_mint: '50' })
  }
  return chosen
}

/** Builds the context of a request to an endpoint, whose parameters are `P`; default: the parameters of listings. */
async function contextOf<P extends Parameters = ReturnType<typeof listingParameters>>(
  path: string,
  query: Query,
) {
  const given = new Map(Object.entries(query))
  const { parameters } = endpoints.find((each) => each.path === path)!
  const values = await readRequest(parameters as P, { raw: given, lists: () => Promise.resolve([]) })
  return { session, values, attributes: readAttributeFilters(given, families) }
}

interface Paged {
  readonly page: number
  readonly limit: number
}

/** Keys of a page, read through the planner. */
function keysOf({ values }: EndpointContext<Paged>, lists: ListReader, list: List): Promise<string[]> {
  const limit = values.limit
  return lists.keys(session, list, { offset: limit * (values.page - 1), limit })
}

/** Keys of a page, read by one SQL statement with all conditions and one sort, without the planner. */
async function plainPage(
  { source, filters, order }: List,
  { values }: EndpointContext<Paged>,
): Promise<string[]> {
  const [only] = order.segments
  const key = raw(`l.${source.key}`)
  const value = order.sorted?.value ?? raw(`l.${only!.column}`)
  const direction = raw(order.direction)
  const by =
    only!.column === source.key ? sql`${key} ${direction}` : sql`${value} ${direction} NULLS LAST, ${key}`
  const [limit, page] = [values.limit, values.page]
  const { text, values: bound } = sql`SELECT ${key}::text FROM ${order.sorted?.from ?? source.from}
    ${where(filters.map(({ condition }) => condition))} ORDER BY ${by}
    LIMIT ${raw(String(limit))} OFFSET ${raw(String(limit * (page - 1)))}`.render()
  return (await session.query<[string]>({ text, values: bound })).map(([id]) => id)
}

const marketLists = [
  { kind: 'sale', path: '/v2/sales', standard: [1, 3, 4] },
  { kind: 'sale', path: '/v1/sales', standard: undefined },
  { kind: 'auction', path: '/v1/auctions', standard: undefined },
  { kind: 'buyoffer', path: '/v1/buyoffers', standard: undefined },
  { kind: 'template_buyoffer', path: '/v1/template_buyoffers', standard: undefined },
] as const

describe('lists of the market', () => {
  it.each(marketLists.flatMap((list) => seedsBeside(SEED).map((seed) => ({ ...list, seed }))))(
    '$path returns the same result through every access path, seed $seed',
    { timeout: patient(600_000) },
    async ({ kind, path, standard, seed }) => {
      const seeded = createRandom(seed)
      const random = () => seeded.fraction()
      const endpoint = endpoints.find((each) => each.path === path)!
      const sorts = endpoint.parameters['sort']!.values!
      const setupOf = (choose?: ChoosePath) => ({
        trigrams: true,
        clock,
        lists: createListReader(marketTables, choose),
      })
      const setups = Object.entries(forcedPaths).map(([name, choose]) => [name, setupOf(choose)] as const)
      let shown = 0
      for (let at = 0; at <= REQUESTS_OF_SEED; at++) {
        // The first request filters by an empty collection, for which the planner has no estimate of rows by schema.
        const filters =
          at === 0 ? { collection_name: 'nobody', schema_name: 'any' } : await pickFilters(kind, random)
        const sort = sorts[Math.floor(random() * sorts.length)]!
        const query: Query = {
          ...(sort === 'effective_mint' ? { collection_name: 'unknown' } : {}),
          ...filters,
          sort,
          order: random() < 0.5 ? 'asc' : 'desc',
          limit: String([1, 5, 30, 100][Math.floor(random() * 4)]!),
          page: random() < 0.7 ? '1' : '3',
        }
        const context = await contextOf(path, query)
        const question = { kind, standard }
        const asked = JSON.stringify(query)
        const plain = await plainPage(await listingList(context, setupOf(), question), context)
        if (plain.length > 0) shown++
        for (const [name, setup] of setups) {
          expect([
            asked,
            name,
            await keysOf(context, setup.lists, await listingList(context, setup, question)),
          ]).toEqual([asked, name, plain])
        }
        if (at % 5 === 0) {
          const all = without(context.values, ['page', 'limit'])
          const setup = setupOf()
          const counted = await setup.lists.count(
            session,
            await countedList({ ...context, values: all }, setup, question),
          )
          if (query['page'] === '1')
            expect([asked, Math.min(Number(counted), Number(query['limit']))]).toEqual([asked, plain.length])
        }
      }
      // The requests of a random seed may all find nothing, so only the fixed seed is checked.
      if (seed === SEED) expect(shown).toBeGreaterThan(REQUESTS_OF_SEED / 10)
    },
  )
})

describe('open sales', () => {
  it.each(['l.asset_count = 1', 'l.asset_count > 1'])(
    'for open sales with %s, a filter on templates finds the same sales by indexed terms as by a scan of all sales',
    { timeout: patient(120_000) },
    async (condition) => {
      const seeded = createRandom(11)
      const random = () => seeded.fraction()
      const setup = {
        trigrams: true,
        clock,
        lists: createListReader(marketTables, forcedPaths['collecting']),
      }
      const sought = ['template_id', 'template_data.rarity', 'search', 'match', 'template_blacklist']
      const shown = new Set<string>()
      for (let at = 0; at < 12; at++) {
        const pool = await poolOf('sale', random, `l.state = 1 AND ${condition}`)
        for (const name of [...sought, 'hide_templates_by_accounts']) {
          if (pool[name] === undefined || pool[name] === 'null') continue
          const ofCollection = at % 2 === 0 ? { collection_name: pool['collection_name']! } : {}
          const query = { ...ofCollection, state: '1', [name]: pool[name], limit: '100' }
          const context = await contextOf('/v2/sales', query)
          const list = await listingList(context, setup, { kind: 'sale' })
          const plain = await plainPage(list, context)
          expect([query, await keysOf(context, setup.lists, list)]).toEqual([query, plain])
          if (plain.length > 0) shown.add(name)
        }
      }
      expect([...shown].sort()).toEqual([...sought, 'hide_templates_by_accounts'].sort())
    },
  )
})

describe.each(['auction', 'buyoffer', 'sale'] as const)('%s lists filtered by their assets', (kind) => {
  const { table, key } = listingTables[kind]
  const plain = 'SELECT asset_id FROM assets.assets WHERE template_id IS NULL AND owner IS NOT NULL LIMIT 1'
  beforeAll(async () => {
    await client.query('BEGIN')
    await client.query(`
      UPDATE assets.assets SET immutable_data = coalesce(immutable_data, '{}') || '{"name":"Gilded one"}' WHERE asset_id % 7 = 0;
      UPDATE assets.assets SET mutable_data = coalesce(mutable_data, '{}') || '{"name":"Worn one"}' WHERE asset_id % 5 = 0;
      INSERT INTO market.listing_assets SELECT (${plain}), ${listingTables[kind].kind}, ${key} FROM ${table}
        WHERE asset_count > 1 AND ${key} % 2 = 0 ON CONFLICT DO NOTHING;
      UPDATE ${table} SET asset_ids = asset_ids || (${plain}), asset_count = asset_count + 1
        WHERE asset_count > 1 AND ${key} % 2 = 0`)
  })
  afterAll(() => client.query('ROLLBACK'))

  const ofTemplate = `EXISTS (SELECT FROM assets.templates t WHERE t.template_id = a.template_id
    AND concat(t.immutable_data ->> 'name', chr(10), t.mutable_data ->> 'name') ILIKE '%ar%')`
  const ofNoTemplate = [{ template_id: 'null' }, 'a.template_id IS NULL'] as const
  const ofOwnNames: readonly (readonly [Query, string])[] = [
    [{ match_immutable_name: 'gilded' }, "a.immutable_data ->> 'name' ILIKE '%gilded%'"],
    [{ match_mutable_name: 'worn' }, "a.mutable_data ->> 'name' ILIKE '%worn%'"],
    [{ match: 'ar' }, ofTemplate],
    [
      { match: 'ar', match_mutable_name: 'worn' },
      `${ofTemplate} AND a.mutable_data ->> 'name' ILIKE '%worn%'`,
    ],
    [
      { template_id: 'null', match_immutable_name: 'gilded' },
      "a.template_id IS NULL AND a.immutable_data ->> 'name' ILIKE '%gilded%'",
    ],
  ]
  // A name filter on sales compares the displayed name, so the cases with the asset's own name are left out.
  const cases = kind === 'sale' ? [ofNoTemplate] : [ofNoTemplate, ...ofOwnNames]
  it.each(cases)(
    `the list contains every ${kind} with an asset that matches %j`,
    async (query: Query, condition) => {
      const isShown = kind === 'sale' ? 'l.offer_id IS NOT NULL' : 'true'
      const { rows } = await client.query<{ id: string }>(
        `SELECT ${key}::text AS id FROM ${table} l WHERE ${isShown} AND EXISTS (SELECT FROM assets.assets a
        WHERE a.asset_id = ANY(l.asset_ids) AND ${condition}) ORDER BY ${key}`,
      )
      const { values, ...others } = await contextOf(`/v1/${kind}s`, { ...query, sort: key, order: 'asc' })
      const context = { ...others, values: { ...values, limit: 100_000 } }
      for (const choose of Object.values(forcedPaths)) {
        const setup = { trigrams: true, clock, lists: createListReader(marketTables, choose) }
        const keys = await keysOf(context, setup.lists, await listingList(context, setup, { kind }))
        expect(keys).toEqual(rows.map(({ id }) => id))
      }
      expect(rows.length).toBeGreaterThan(0)
    },
  )
})

describe('sales sorted by price', () => {
  it.each(['asc', 'desc'])(
    'sales sorted by price (%s) end with the sales whose price is unknown',
    async (order) => {
      const { rows } = await client.query<{ collection: string; all: number; last: string[] }>(
        `SELECT l.collection_name AS collection, count(*)::integer AS all, array_agg(l.sale_id::text ORDER BY l.sale_id)
            FILTER (WHERE l.price IS NULL AND l.listing_symbol IN ('EUR', 'KARMA')) AS last
          FROM market.sales l WHERE l.offer_id IS NOT NULL GROUP BY 1
          HAVING count(DISTINCT l.listing_symbol) FILTER (WHERE l.price IS NULL AND l.listing_symbol IN ('EUR', 'KARMA')) = 2
          ORDER BY 2 DESC LIMIT 1`,
      )
      const { collection, all, last } = rows[0]!
      const query = { collection_name: collection, sort: 'price', order }
      const { values, ...others } = await contextOf('/v1/sales', query)
      const context = { ...others, values: { ...values, limit: all + 1 } }
      for (const choose of Object.values(forcedPaths)) {
        const setup = { trigrams: true, clock, lists: createListReader(marketTables, choose) }
        const keys = await keysOf(context, setup.lists, await listingList(context, setup, { kind: 'sale' }))
        expect([keys.length, keys.slice(-last.length)]).toEqual([all, last])
      }
    },
  )
})

describe('filters that most rows match', () => {
  const filterOf = (name: string, rows: number): Filter => ({
    name,
    condition: raw(`l.${name}`),
    found: raw(`terms && ${name}`),
    rows,
    isIndexed: true,
  })
  const foundBy = (...filters: readonly Filter[]): string[] =>
    withoutCommon(filters, 1_000)
      .filter(({ found, isIndexed }) => found !== undefined && isIndexed)
      .map(({ name }) => name)

  it('a filter that most rows match is checked row by row, not looked up in an index', () => {
    expect(foundBy(filterOf('rare', 20), filterOf('common', 900))).toEqual(['rare'])
    expect(foundBy(filterOf('third', 300), filterOf('half', 400))).toEqual(['third'])
    expect(foundBy(filterOf('common', 990))).toEqual([])
  })
})

describe('royalty payouts', () => {
  it('royalty payouts are the same through every access path', { timeout: patient(300_000) }, async () => {
    const seeded = createRandom(SEED)
    const random = () => seeded.fraction()
    const endpoint = endpoints.find(({ path }) => path === '/v1/royalties/payouts')!
    const setups = Object.entries(forcedPaths).map(
      ([name, choose]) => [name, { lists: createListReader(marketTables, choose) }] as const,
    )
    let shown = 0
    for (let at = 0; at < REQUESTS; at++) {
      const { rows } = await client.query<Record<string, string>>(
        `SELECT p.*, p.seq::text AS seq, p.asset_id::text, p.listing_id::text, p.paid_at_time::text FROM market.royalty_payouts p
         ORDER BY p.seq OFFSET floor($1::float8 * (SELECT count(*) FROM market.royalty_payouts)) LIMIT 2`,
        [random() * 0.99],
      )
      const [row, other] = [rows[0]!, rows.at(-1)!]
      const either = (name: string): string => (random() < 0.6 ? row[name]! : `${row[name]!},${other[name]!}`)
      const pool: [string, string][] = [
        ['recipient', either('recipient')],
        ['collection_name', either('collection_name')],
        ['asset_id', either('asset_id')],
        ['symbol', row['token_symbol']!],
        ['listing_type', random() < 0.7 ? 'sale' : 'auction'],
        ['listing_id', row['listing_id']!],
        ['category', random() < 0.5 ? 'dust' : 'founders,template'],
        ['ids', either('seq')],
        ['lower_bound', row['seq']!],
        ['upper_bound', other['seq']!],
        ['before', row['paid_at_time']!],
        ['after', row['paid_at_time']!],
      ]
      const query: Query = {
        ...Object.fromEntries(
          Array.from({ length: Math.floor(random() * 4) }, () => pool[Math.floor(random() * pool.length)]!),
        ),
        sort: random() < 0.5 ? 'created' : 'amount',
        order: random() < 0.5 ? 'asc' : 'desc',
        limit: String([1, 5, 30, 100][Math.floor(random() * 4)]!),
        page: random() < 0.7 ? '1' : '3',
      }
      const given = new Map(Object.entries(query))
      const values = await readRequest(endpoint.parameters as ReturnType<typeof payoutParameters>, {
        raw: given,
        lists: () => Promise.resolve([]),
      })
      const context = { session, values, attributes: [] }
      const asked = JSON.stringify(query)
      const { source, filters } = await payoutList(context, setups[0]![1])
      const direction = values.order === 'asc' ? 'ASC' : 'DESC'
      const by = [...(query['sort'] === 'amount' ? ['amount'] : []), 'seq', 'payout_index']
      const [limit, page] = [values.limit, values.page]
      const { text, values: bound } = sql`SELECT l.key FROM ${source.from} ${where(
        filters.map(({ condition }) => condition),
      )}
        ORDER BY ${raw(by.map((column) => `l.${column} ${direction}`).join(', '))}
        LIMIT ${raw(String(limit))} OFFSET ${raw(String(limit * (page - 1)))}`.render()
      const plain = (await session.query<[string]>({ text, values: bound })).map(([key]) => key)
      if (plain.length > 0) shown++
      for (const [name, setup] of setups)
        expect([asked, name, await keysOf(context, setup.lists, await payoutList(context, setup))]).toEqual([
          asked,
          name,
          plain,
        ])
    }
    expect(shown).toBeGreaterThan(REQUESTS / 4)
  })
})

describe('the cheapest sales of templates', () => {
  it(
    'the cheapest sale of each template is the same by one lookup for each template as by one scan',
    { timeout: patient(300_000) },
    async () => {
      const seeded = createRandom(SEED)
      const random = () => seeded.fraction()
      const endpoint = endpoints.find(({ path }) => path === '/v1/sales/templates')!
      const known = new Set(Object.keys(endpoint.parameters))
      const setup = { trigrams: true, lists: createListReader(marketTables) }
      let shown = 0
      for (let at = 0; at < Math.max(40, REQUESTS); at++) {
        const filters = Object.entries(await pickFilters('sale', random)).filter(
          ([name]) => known.has(name) || name.includes('data'),
        )
        const query: Query = {
          symbol: random() < 0.7 ? 'WAX' : 'WAX,KARMA',
          ...Object.fromEntries(filters),
          sort: random() < 0.5 ? 'price' : 'template_id',
          order: random() < 0.5 ? 'asc' : 'desc',
          limit: String([1, 5, 100][Math.floor(random() * 3)]!),
          page: random() < 0.7 ? '1' : '2',
        }
        const context = await contextOf<ReturnType<typeof cheapestParameters>>(endpoint.path, query)
        const asked = JSON.stringify(query)
        const one = await selectCheapest(context, setup, () => 'by template')
        const other = await selectCheapest(context, setup, () => 'of all')
        if (one.length > 0) shown++
        expect([asked, other]).toEqual([asked, one])
      }
      expect(shown).toBeGreaterThan(REQUESTS / 6)
    },
  )
})

describe('trades by day', () => {
  it('the list of trade days contains each day once, even if a day ends between two reads', async () => {
    await client.query('BEGIN')
    onTestFinished(async () => {
      await client.query('ROLLBACK')
    })
    await client.query(`CREATE TEMPORARY TABLE ended ON COMMIT DROP AS
      SELECT * FROM market.price_days WHERE day = (SELECT max(day) FROM market.price_days)`)
    const expected = await tradeDays(session, {})
    await client.query('DELETE FROM market.price_days WHERE day = (SELECT max(day) FROM market.price_days)')
    const ending: Session = {
      ...session,
      async query<Row extends readonly unknown[]>(statement: Statement): Promise<Row[]> {
        const found = await session.query<Row>(statement)
        if (statement.name === 'first-open-day')
          await client.query('INSERT INTO market.price_days SELECT * FROM ended')
        return found
      },
    }
    expect(await tradeDays(ending, {})).toBe(expected)
    expect(JSON.parse(expected)).not.toEqual([])
  })
})

describe('sums of trades in a time range', () => {
  it('trade sums computed from daily sums, or from totals minus daily sums, equal the sums of the single trades', async () => {
    const seeded = createRandom(SEED)
    const { rows } = await client.query<{ time: string; collection: string }>(
      `SELECT trade_time AS time, collection_name AS collection FROM market.trades ORDER BY trade_time`,
    )
    const pickOne = () => rows[Math.floor(seeded.fraction() * rows.length)]!
    const sumsOf = async (query: Sql) =>
      (await session.query<[string, string, string]>(query.render())).sort(([a], [b]) => (a < b ? -1 : 1))
    for (let at = 0; at < REQUESTS; at++) {
      const [from, until] = [Number(pickOne().time), Number(pickOne().time)].sort((a, b) => a - b)
      const range = tradeRange({
        ...(at % 3 === 1 ? {} : { after: from }),
        ...(at % 3 === 2 ? {} : { before: until }),
      })!
      const token = sql`k.token_symbol = ${at % 4 === 0 ? raw(`'KARMA'`) : raw(`'WAX'`)}`
      const names = at % 5 === 0 ? raw(`k.collection_name = '${pickOne().collection}'`) : raw('true')
      const [days, totals] = ['market.collection_days', 'market.collection_stats']
      const sum = { token, key: 'collection_name', conditions: [names], days: days }
      const trades =
        await sumsOf(sql`SELECT k.collection_name, count(*)::text, sum(k.price)::text FROM market.trades k
        ${where([token, names, ...inRange('k.trade_time', range)])} GROUP BY 1`)
      for (const each of [sum, { ...sum, totals: totals }]) {
        const sums = sumInRange(each, range)
        const found = await sumsOf(sql`SELECT s.key, s.trades::text, s.volume::text FROM (${sums}) s`)
        expect([at, range, found]).toEqual([at, range, trades])
      }
    }
  })
})
