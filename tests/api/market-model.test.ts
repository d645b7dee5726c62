import type pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Fragments } from '../../services/api/records/fragments/index.ts'
import { createMarketNamespace } from '../../services/api/namespaces/market/index.ts'
import type { Namespace } from '../../services/api/index.ts'
import { readAttributeFilters, readRequest } from '../../services/api/index.ts'
import { jsonString } from '../../services/api/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { ActivityMix } from '../../services/devchain/index.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createBegunDatabase } from '../integration/indexed-database.ts'
import { PositionWatch } from '../integration/position.ts'
import { createRandom } from '../integration/seeded-random.ts'
import type { TestDatabase } from '../setup/database.ts'
import { rounds } from '../setup/rounds.ts'
import { sessionOf } from './client-session.ts'
import { MarketModel, readBlock } from './market-model.ts'
import type { ModelBlock, ModelKind, ModelListing } from './market-model.ts'
import { sumBy, templatePricesOf, tradesOf } from './market-model-sums.ts'
import type { ModelTrade } from './market-model-sums.ts'

const SEED = 20_261
const STEPS = rounds(30, 60)
/** Number of generated blocks before the first step. Auctions that begin in these blocks end during the steps. */
const LEAD_IN = 460
/** Time between recorded and generated trades: the recorded trades no longer count as recent. */
const LATER_MS = 4 * 86_400_000

/** Activity: listings, purchases, and changes that invalidate listings or make them valid again. */
const mix: ActivityMix = {
  newAccount: 0.3,
  newTemplate: 0.5,
  mint: 14,
  transfer: 10,
  burn: 1.5,
  createOffer: 2,
  acceptOffer: 1.5,
  cancelOffer: 1,
  newMarketplace: 0.5,
  writePrices: 6,
  announceSale: 18,
  startSale: 3,
  purchaseSale: 12,
  cancelSale: 3,
  withdrawSaleOffer: 1,
  announceAuction: 8,
  startAuction: 2,
  bid: 10,
  claimAuction: 5,
  cancelAuction: 1,
  createBuyoffer: 6,
  acceptBuyoffer: 3,
  declineBuyoffer: 1,
  cancelBuyoffer: 1,
  createTemplateBuyoffer: 4,
  fulfillTemplateBuyoffer: 3,
  cancelTemplateBuyoffer: 1,
}

let database: TestDatabase
let running: TestChain
let client: pg.Client
let now = 0

beforeEach(async () => {
  database = await createBegunDatabase()
  running = await startChain({
    recordings: ['main'],
    libLagBlocks: 20,
    blocks: LEAD_IN,
    rate: 13,
    mix,
    seed: SEED,
    startTimeMs: RECORDED_END + LATER_MS,
  })
  client = await connectDatabase(database.address, { applicationName: 'test' })
})
afterEach(async () => {
  await client.end()
  await running.chain.stop()
  await database.drop()
})

/** Time of the last recorded block, ms since 1970. */
const RECORDED_END = Date.UTC(2026, 10, 20, 9, 59, 17)

const LARGEST = 1_000
const namespace: Namespace = createMarketNamespace({
  contract: 'atomicmarket',
  assetsContract: undefined,
  shared: new Fragments(),
  trigrams: true,
  disableV1Sales: false,
  clock: () => now,
  limits: Object.fromEntries(
    [
      'assets',
      'accounts',
      'collections',
      'schemas',
      'templates',
      'offers',
      'transfers',
      'burns',
      'logs',
      'auctions',
      'buyoffers',
      'prices_templates',
      'sales',
      'sales_templates',
      'sales_v2',
      'royalties',
    ].map((name) => [name, LARGEST]),
  ) as unknown as Parameters<typeof createMarketNamespace>[0]['limits'],
})

async function ask<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const endpoint = namespace.endpoints.find((each) => each.path === path)!
  const raw = new Map(Object.entries(query))
  const values = await readRequest(endpoint.parameters, { raw, lists: () => Promise.resolve([]) })
  const attributes = readAttributeFilters(raw, endpoint.attributes ?? [])
  const data = await endpoint.run({ session: sessionOf(client), values, attributes })
  return JSON.parse(jsonString(data)) as T
}

/** Members of a listing's record that the test compares. */
interface Listing {
  readonly sale_id?: string
  readonly auction_id?: string
  readonly buyoffer_id?: string
  readonly state: number
  readonly price: { readonly amount: string | null; readonly token_symbol: string }
  readonly seller: string | null
  readonly buyer: string | null
  readonly maker_marketplace: string
  readonly taker_marketplace: string | null
  readonly assets: readonly (string | { readonly asset_id: string })[]
  readonly updated_at_time: string
}

const kinds: readonly (readonly [
  kind: ModelKind,
  path: string,
  key: 'sale_id' | 'auction_id' | 'buyoffer_id',
  states: readonly number[],
])[] = [
  ['sales', '/v0/sales', 'sale_id', [1, 2, 3, 4]],
  ['auctions', '/v1/auctions', 'auction_id', [0, 1, 2, 3, 4]],
  ['buyoffers', '/v1/buyoffers', 'buyoffer_id', [0, 1, 2, 3, 4]],
  ['template_buyoffers', '/v1/template_buyoffers', 'buyoffer_id', [0, 1, 2]],
]

/** Listings that the API shows: sales only if they have an offer. */
function shown(model: MarketModel, kind: ModelKind): ModelListing[] {
  const all = [...model.listings[kind].values()].sort((a, b) => Number(a.id - b.id))
  return kind === 'sales' ? all.filter(({ offer }) => offer !== undefined) : all
}

async function compareListings(model: MarketModel, touched: ReadonlySet<bigint> | undefined): Promise<void> {
  for (const [kind, path, key, states] of kinds) {
    const all = shown(model, kind)
    const counted = new Map<number, number>()
    for (const each of all) {
      const state = model.stateOf(kind, each)
      counted.set(state, (counted.get(state) ?? 0) + 1)
    }
    for (const state of states) {
      const count = await ask<string>(`${path}/_count`, { state: String(state) })
      expect([kind, state, count]).toEqual([kind, state, String(counted.get(state) ?? 0)])
    }
    if (kind === 'sales' && touched === undefined) {
      const open = all.filter((each) => model.stateOf(kind, each) === 1 && each.assets.length > 0)
      expect(await compareCountsOfSchemas()).toBeGreaterThanOrEqual(open.length)
    }
    const wanted = all.filter(({ id }) => touched === undefined || touched.has(id)).slice(-200)
    if (wanted.length === 0) continue
    const query = { ids: wanted.map(({ id }) => id).join(','), sort: key, order: 'asc', limit: '200' }
    const records = await ask<Listing[]>(path, query)
    expect(records.map((record) => brief(key, record))).toEqual(
      wanted.map((each) => ({
        id: String(each.id),
        state: model.stateOf(kind, each),
        amount: model.priceOf(each)?.toString() ?? null,
        symbol: each.settlement,
        seller: each.seller,
        buyer: each.buyer,
        maker: each.maker,
        taker: each.taker,
        assets: each.assets.map(String),
        updated: kind === 'auctions' ? undefined : String(each.updated),
      })),
    )
  }
}

/**
 * Compares two counts of the open sales of each schema. The API takes the first count from indexes alone. For the
 * second count the API counts rows, because the request has `lower_bound=1`, which excludes no sale. @returns number of
 * open sales.
 */
async function compareCountsOfSchemas(): Promise<number> {
  let open = 0
  const { rows } = await client.query<Record<string, string>>(
    'SELECT collection_name, schema_name FROM assets.schemas',
  )
  for (const schema of rows) {
    const query = { state: '1', ...schema }
    const count = await ask<string>('/v0/sales/_count', query)
    const counted = await ask<string>('/v0/sales/_count', { ...query, lower_bound: '1' })
    expect([schema, count]).toEqual([schema, counted])
    open += Number(count)
  }
  return open
}

function brief(key: 'sale_id' | 'auction_id' | 'buyoffer_id', record: Listing): Record<string, unknown> {
  return {
    id: record[key],
    state: record.state,
    amount: record.price.amount,
    symbol: record.price.token_symbol,
    seller: record.seller,
    buyer: record.buyer,
    maker: record.maker_marketplace,
    taker: record.taker_marketplace,
    assets: record.assets.map((asset) => (typeof asset === 'string' ? asset : asset.asset_id)),
    // The model does not know the update time of an auction: claims, bids and changes of contract rows set it.
    updated: key === 'auction_id' ? undefined : record.updated_at_time,
  }
}

/** Compares the order of open sales by price, including prices that depend on the oracle. */
async function comparePriceOrder(model: MarketModel): Promise<void> {
  const listed = shown(model, 'sales').filter(
    (each) => model.stateOf('sales', each) === 1 && each.settlement === 'WAX',
  )
  for (const order of ['asc', 'desc'] as const) {
    const sign = order === 'asc' ? 1n : -1n
    const expected = listed
      .map((each) => ({ id: each.id, price: model.priceOf(each) }))
      .sort((a, b) => {
        if (a.price === null || b.price === null) return Number(a.price === null) - Number(b.price === null)
        return Number((a.price - b.price) * sign) || Number(a.id - b.id)
      })
    const query = { state: '1', symbol: 'WAX', sort: 'price', order, limit: '20', page: '1' }
    const found = await ask<Listing[]>('/v2/sales', query)
    expect(found.map((each) => [each.sale_id, each.price.amount])).toEqual(
      expected.slice(0, 20).map(({ id, price }) => [String(id), price?.toString() ?? null]),
    )
  }
}

interface Results<T> {
  readonly results: readonly T[]
}

async function compareStatistics(model: MarketModel): Promise<void> {
  const all = tradesOf(model)
  const prices = await ask<Record<string, string>[]>('/v1/prices/templates', { limit: '1000' })
  const expected = templatePricesOf(model, all)
  const names = Object.keys(expected[0] ?? {})
  expect(prices.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])))).toEqual(expected)
  for (const symbol of ['WAX', 'KARMA'])
    await compareSums(
      symbol,
      all.filter((each) => each.symbol === symbol),
    )
}

async function compareSums(symbol: string, trades: readonly ModelTrade[]): Promise<void> {
  const price = (each: ModelTrade): bigint => each.price
  const { results: collections } = await ask<Results<Record<string, string>>>('/v1/stats/collections', {
    symbol,
  })
  expect(
    collections
      .filter(({ sales }) => sales !== '0')
      .map((row) => [row['collection_name'], row['sales'], row['volume']]),
  ).toEqual(
    [...sumBy(trades, ({ collection }) => collection, price)]
      .map(([name, [count, sum]]) => [name, String(count), String(sum)] as const)
      .sort((a, b) => Number(BigInt(b[2]) - BigInt(a[2])) || (a[0] < b[0] ? -1 : 1)),
  )
  const sold = sumBy(trades, ({ seller }) => seller, price)
  const bought = sumBy(trades, ({ buyer }) => buyer, price)
  const { results: accounts } = await ask<Results<Record<string, string>>>('/v1/stats/accounts', { symbol })
  expect(new Map(accounts.map((row) => [row['account'], [row['sell_volume'], row['buy_volume']]]))).toEqual(
    new Map(
      [...new Set([...sold.keys(), ...bought.keys()])].map((name) => [
        name,
        [String(sold.get(name)?.[1] ?? 0n), String(bought.get(name)?.[1] ?? 0n)],
      ]),
    ),
  )
  const byMaker = sumBy(trades, ({ maker }) => maker, price)
  const taken = sumBy(trades, ({ taker }) => taker, price)
  const { results: markets } = await ask<Results<Record<string, string>>>('/v1/stats/markets', { symbol })
  expect(
    new Map(
      markets.map((row) => [
        row['marketplace_name'],
        [row['sellers'], row['buyers'], row['maker_volume'], row['taker_volume']],
      ]),
    ),
  ).toEqual(
    new Map(
      [...new Set([...byMaker.keys(), ...taken.keys()])].map((name) => [
        name,
        [
          String(new Set(trades.filter(({ maker }) => maker === name).map(({ seller }) => seller)).size),
          String(new Set(trades.filter(({ taker }) => taker === name).map(({ buyer }) => buyer)).size),
          String(byMaker.get(name)?.[1] ?? 0n),
          String(taken.get(name)?.[1] ?? 0n),
        ],
      ]),
    ),
  )
  const { results: days } = await ask<Results<Record<string, string>>>('/v1/stats/graph', { symbol })
  const byDay = sumBy(trades, ({ time }) => String(Math.floor(time / 86_400_000)), price)
  expect(
    new Map(
      days.map((row) => [
        String(Number(row['time']) / 86_400_000),
        [Number(row['sales']), BigInt(row['volume']!)],
      ]),
    ),
  ).toEqual(byDay)
  const own = trades.filter(({ kind }) => kind === 1)
  const { result } = await ask<{ result: Record<string, string | null> }>('/v1/stats/sales', { symbol })
  const volume = own.length === 0 ? null : String(own.reduce((sum, each) => sum + each.price, 0n))
  expect(result).toEqual({ volume, sales: String(own.length) })
}

/** Ids of the sales, auctions and buy offers in the actions of a block. A sale and an auction may have equal ids. */
function touchedBy({ actions }: ModelBlock): Set<bigint> {
  const ids = actions.flatMap(({ said }) => [said['sale_id'], said['auction_id'], said['buyoffer_id']])
  return new Set(ids.filter((id) => typeof id === 'bigint'))
}

it(`the market API answers like the model after each of ${STEPS} random steps with forks (seed ${SEED})`, async () => {
  const { chain } = running
  const random = createRandom(SEED)
  const blocks = new Map<string, ModelBlock>()
  const watch = await PositionWatch.open(database.address, testSettings.name)
  const ending = new AbortController()
  let failure: unknown
  const reading = indexUntil(running, database.address, 0, { signal: ending.signal })
  reading.catch((error: unknown) => (failure = error))
  try {
    let operations = 0
    let ended = 0
    let undone = 0
    let model = new MarketModel()
    /** Last block that the model contains. */
    let applied: { readonly num: number; readonly id: string } | null = null
    for (let step = 1; step <= STEPS; step++) {
      if (step % 9 === 0) {
        const depth = random.between(1, 6)
        undone += depth
        chain.fork(depth, depth + 1)
      } else chain.generate(1)
      const head = chain.head()
      await watch.until(
        (at) => at?.num === head.num && at.id === head.id,
        () => failure !== undefined,
      )
      expect(failure).toBeUndefined()
      // The model starts from an empty state only after a fork that replaced its last block.
      if (applied !== null && chain.block(applied.num)?.id.toString('hex') !== applied.id) {
        model = new MarketModel()
        applied = null
      }
      for (let num = (applied?.num ?? 0) + 1; num <= head.num; num++) {
        const block = chain.block(num)!
        const id = block.id.toString('hex')
        const read = blocks.get(id) ?? readBlock(block)
        blocks.set(id, read)
        model.apply(read)
      }
      applied = head
      now = model.time
      operations = model.operations
      ended = tradesOf(model).filter(({ kind }) => kind === 2).length
      const isFork = step % 9 === 0
      await compareListings(model, isFork || step === STEPS ? undefined : touchedBy(blocks.get(head.id)!))
      await comparePriceOrder(model)
      await compareStatistics(model)
    }
    expect(operations).toBeGreaterThan(2_500)
    expect(undone).toBeGreaterThan(STEPS / 5)
    expect(ended).toBeGreaterThan(STEPS / 12)
  } finally {
    ending.abort()
    await reading.catch(() => undefined)
    await watch.close()
  }
})
