import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createHandler, sortFamilies } from '../../services/filler/handlers/index.ts'
import type { BlockScope, Handler } from '../../services/filler/handlers/handler.ts'
import { CommitUnit } from '../../services/filler/store/commit-unit.ts'
import { openStore } from '../../services/filler/store/store.ts'
import { chainTables } from '../../services/core/model/tables/index.ts'
import type { Store } from '../../services/filler/store/store.ts'
import type { Table } from '../../services/core/model/table.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { compareDumps, dumpDatabase } from './database-dump.ts'
import type { DatabaseDump } from './database-dump.ts'
import { marketRules } from '../../services/core/derived/market-rules.ts'
import { liveBlock, newWorld } from './market-life.ts'
import type { LifeBlock, LifeEvent } from './market-life.ts'
import { marketConfig, waxPrice } from './market-rows.ts'
import { createRandom } from './seeded-random.ts'
import { patient } from '../setup/patience.ts'

const entries = [
  { handler: 'market', args: { market_account: 'market', store_logs: true } },
  { handler: 'oracle', args: { oracle_account: 'oracle' } },
  { handler: 'assets', args: { assets_account: 'assets', store_transfers: true, store_logs: true } },
]
const handlers = sortFamilies(entries.map((entry) => createHandler(entry, entries)!))
const codeAccounts = { ...chainTables.codeAccounts, shared: false }

/** Number of generated blocks, interval of the checks, and depth of the forks. */
const BLOCKS = 240
const CHECK_EVERY = 60
const REVERSIBLE_BLOCKS = 8

let live: TestDatabase
let grouped: TestDatabase

beforeEach(async () => {
  live = await createTestDatabase()
  grouped = await createTestDatabase()
})

afterEach(async () => {
  await live.drop()
  await grouped.drop()
})

/** Writes generated blocks through the store, as a reader does. */
class Writer {
  readonly #store: Store
  #states = new Map<Handler, unknown>()

  private constructor(store: Store) {
    this.#store = store
  }

  static async open(address: DatabaseAddress): Promise<Writer> {
    const tables = [codeAccounts as unknown as Table, ...handlers.flatMap((handler) => handler.tables)]
    const derived = handlers.flatMap((handler) => handler.derived ?? [])
    const writer = new Writer(await openStore({ address, reader: 'life', startBlock: 1, tables, derived }))
    await writer.#load()
    return writer
  }

  async commit(group: readonly LifeBlock[], irreversible: number): Promise<void> {
    const last = group.at(-1)!
    const unit = new CommitUnit(last.num > irreversible)
    for (const block of group) {
      this.#apply(block, unit)
      const id = Buffer.alloc(32)
      id.writeUInt32BE(block.num)
      unit.closeBlock({ num: block.num, id, timeMs: block.timeMs })
    }
    await this.#store.commit(unit, Math.min(irreversible, last.num))
  }

  async rollBackTo(block: number): Promise<void> {
    await this.#store.rollBackTo(block)
    await this.#load()
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #load(): Promise<void> {
    for (const handler of handlers)
      this.#states.set(handler, await handler.load((text, values) => this.#store.query(text, values)))
  }

  #apply(block: LifeBlock, unit: CommitUnit): void {
    const scopes = new Map<Handler, BlockScope<unknown>>()
    const scopeOf = (family: string) => {
      const handler = handlers.find((one) => one.family === family)!
      const scope =
        scopes.get(handler) ?? handler.open(block, this.#states.get(handler), unit, () => undefined)
      scopes.set(handler, scope)
      return scope
    }
    block.events.forEach((event, place) => {
      if (!('action' in event)) return
      const txid = Buffer.alloc(32, place)
      scopeOf(event.family).action({
        seq: BigInt(block.num * 1_000 + place),
        txIndex: place,
        txid,
        ordinal: 1,
        creatorOrdinal: 0,
        name: event.action,
        data: event.data,
        packed: Buffer.alloc(64),
        actors: () => [event.family],
      })
    })
    const rows = new Map(
      block.events.flatMap((event) =>
        'table' in event ? [[`${event.table} ${event.scope} ${event.key}`, event] as const] : [],
      ),
    )
    for (const row of rows.values())
      scopeOf(row.family).row({
        table: row.table,
        present: row.present,
        scope: () => row.scope,
        primaryKey: () => row.key,
        value: () => row.value,
      })
    for (const [handler, scope] of scopes) this.#states.set(handler, scope.end())
    for (const account of block.contracts)
      unit.upsert(codeAccounts, { account, since_block: block.num, reader: 'life' })
  }
}

async function findMarketViolations(address: DatabaseAddress): Promise<string[]> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    const found: string[] = []
    for (const { rule, violations } of marketRules)
      for (const row of (await client.query<Record<string, string>>(violations)).rows)
        found.push(`${rule}: ${Object.values(row).join(' ')}`)
    return found
  } finally {
    await client.end()
  }
}

async function dumpMarket(address: DatabaseAddress): Promise<DatabaseDump> {
  return new Map(
    [...(await dumpDatabase(address))].filter(([name]) => /^(assets|market|oracle)\./.test(name)),
  )
}

it(
  'values that change with time alone equal recomputed values after days, forks and an upgrade, for any grouping of blocks into commits',
  { timeout: patient(240_000) },
  async () => {
    const random = createRandom(77)
    const writer = await Writer.open(live.address)
    let world = newWorld()
    const chain: { block: LifeBlock; before: typeof world }[] = []
    let irreversible = 0
    for (let step = 1; chain.length < BLOCKS; step++) {
      const back = Math.max(irreversible, chain.length - random.between(1, REVERSIBLE_BLOCKS))
      if (random.fraction() < 0.08 && back > 0 && back < chain.length) {
        world = chain[back]!.before
        chain.length = back
        await writer.rollBackTo(back + 1)
      }
      const before = structuredClone(world)
      const block = liveBlock(world, random)
      chain.push({ block, before })
      irreversible = Math.max(irreversible, block.num - REVERSIBLE_BLOCKS)
      await writer.commit([block], irreversible)
      if (step % CHECK_EVERY === 0) expect(await findMarketViolations(live.address)).toEqual([])
    }
    await writer.close()
    expect(await findMarketViolations(live.address)).toEqual([])

    const catchingUp = await Writer.open(grouped.address)
    for (let from = 0; from < BLOCKS;) {
      const group = chain.slice(from, from + random.between(1, 60)).map(({ block }) => block)
      from += group.length
      await catchingUp.commit(group, BLOCKS)
    }
    await catchingUp.close()
    expect(await findMarketViolations(grouped.address)).toEqual([])
    const expected = await dumpMarket(live.address)
    expect(compareDumps(expected, await dumpMarket(grouped.address))).toEqual([])

    const client = await connectDatabase(live.address, { applicationName: 'test' })
    const { rows } = await client.query<Record<string, bigint>>(`
      SELECT count(*) FILTER (WHERE kind = 1) AS sales, count(*) FILTER (WHERE kind = 2) AS auctions,
        count(*) FILTER (WHERE kind = 3) AS buyoffers, count(*) FILTER (WHERE kind = 4) AS template_buyoffers,
        (SELECT count(*) FROM market.auctions WHERE state = 2 AND asset_count > 1) AS dissolved,
        (SELECT count(*) FROM market.template_prices WHERE floor_price IS NOT NULL) AS floors,
        (SELECT count(*) FROM market.template_prices WHERE oracle_floors IS NOT NULL) AS oracle_floors
      FROM market.trades`)
    await client.end()
    for (const [what, number] of Object.entries(rows[0]!))
      expect({ [what]: number > 0n }).toEqual({ [what]: true })
  },
)

type Row = Extract<LifeEvent, { table: string }>

const action = (family: LifeEvent['family'], name: string, data: object): LifeEvent => ({
  family,
  action: name,
  data,
})
const row = (family: Row['family'], table: string, scope: string, value: object, present = true): Row => ({
  family,
  table,
  scope,
  key: 1n,
  present,
  value,
})
const configured = row('market', 'config', 'market', marketConfig('1.3.3'))
const pair = (quoted_precision: bigint, present = true) =>
  row('oracle', 'pairs', 'oracle', { ...waxPrice, quoted_precision }, present)
const point = (median: bigint, timestamp: string) =>
  row('oracle', 'datapoints', 'waxpusd', { id: 1n, owner: 'oracle1', value: median, median, timestamp })

function listed(id: bigint): LifeEvent[] {
  return [
    action('market', 'lognewsale', {
      sale_id: id,
      seller: 'bob',
      asset_ids: [id],
      listing_price: '10.00 USD',
      settlement_symbol: '8,WAX',
      maker_marketplace: '',
      collection_name: 'cards',
      collection_fee: 0.05,
    }),
    action('market', 'logsalestart', { sale_id: id, offer_id: id }),
  ]
}

const bought = (sale_id: bigint) =>
  action('market', 'purchasesale', {
    buyer: 'carol',
    sale_id,
    intended_delphi_median: 500n,
    taker_marketplace: '',
  })

/** Writes the blocks to two databases: one block at a time, and all in one commit unit. */
async function writeBoth(...contents: readonly (readonly LifeEvent[])[]): Promise<void> {
  const chain = contents.map((events, place) => ({
    num: place + 1,
    timeMs: Date.UTC(2024, 0, 1) + place * 500,
    events,
    contracts: [],
  }))
  const following = await Writer.open(live.address)
  for (const block of chain) await following.commit([block], 0)
  await following.close()
  const catchingUp = await Writer.open(grouped.address)
  await catchingUp.commit(chain, chain.length)
  await catchingUp.close()
}

async function select(address: DatabaseAddress, text: string): Promise<object[]> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    return (await client.query<object>(text)).rows
  } finally {
    await client.end()
  }
}

it('a patch of a row that does not exist yet has no effect, for any grouping of blocks into commits', async () => {
  const schema = (schema_name: string) => row('assets', 'schemas', 'cards', { schema_name, format: [] })
  const types = (schema_name: string) =>
    row('assets', 'schematypes', 'cards', {
      schema_name,
      format_type: [{ name: 'img', mediatype: 'image', info: '' }],
    })
  await writeBoth(
    [configured, point(500n, '2024-01-01T00:00:00.000'), types('old')],
    [pair(4n), schema('old')],
    [types('new'), schema('new')],
  )
  expect(compareDumps(await dumpMarket(live.address), await dumpMarket(grouped.address))).toEqual([])
  expect(await select(grouped.address, 'SELECT median, updated_at_block FROM oracle.pairs')).toEqual([
    { median: null, updated_at_block: 0 },
  ])
  const known = 'SELECT schema_name, types IS NOT NULL AS typed FROM assets.schemas ORDER BY 1'
  expect(await select(grouped.address, known)).toEqual([
    { schema_name: 'new', typed: true },
    { schema_name: 'old', typed: false },
  ])
})

it('the price of a sale uses the oracle pair at the time of the purchase, for any grouping of blocks into commits', async () => {
  await writeBoth(
    [pair(4n), ...[1n, 2n, 3n, 4n, 5n].flatMap(listed)],
    [bought(1n)],
    [configured],
    [bought(2n)],
    [bought(3n), pair(4n, false)],
    [bought(4n)],
    [pair(6n)],
    [bought(5n)],
  )
  expect(compareDumps(await dumpMarket(live.address), await dumpMarket(grouped.address))).toEqual([])
  expect(await select(grouped.address, 'SELECT sale_id, price FROM market.sales ORDER BY 1')).toEqual([
    { sale_id: 1n, price: null },
    { sale_id: 2n, price: 20_000_000_000n },
    { sale_id: 3n, price: 20_000_000_000n },
    { sale_id: 4n, price: null },
    { sale_id: 5n, price: 2_000_000_000_000n },
  ])
  expect(await select(grouped.address, 'SELECT listing_id FROM market.trades ORDER BY 1')).toEqual([
    { listing_id: 2n },
    { listing_id: 3n },
    { listing_id: 5n },
  ])
})

it('an auction whose end equals the time of a block ends with that block, for any grouping of blocks into commits', async () => {
  // Blocks are 0.5 s apart: the fifth block is the first one 2 s after the start.
  const end_time = Date.UTC(2024, 0, 1) / 1_000 + 2
  const auction = { asset_ids: [1n], end_time, claimed_by_seller: false, claimed_by_buyer: false }
  const terms = { maker_marketplace: '', collection_name: 'cards', collection_fee: 0.05 }
  const begin = { auction_id: 1n, seller: 'bob', starting_bid: '1.00000000 WAX', ...auction, ...terms }
  const bid = { auction_id: 1n, bidder: 'carol', bid: '2.00000000 WAX', taker_marketplace: '' }
  const started = [
    action('market', 'lognewauct', begin),
    action('market', 'logauctstart', { auction_id: 1n }),
  ]
  await writeBoth(
    [
      configured,
      ...started,
      action('market', 'auctionbid', bid),
      row('market', 'auctions', 'market', auction),
    ],
    ...[[], [], [], []],
  )
  expect(await select(live.address, 'SELECT kind, listing_id, trade_time FROM market.trades')).toEqual([
    { kind: 2, listing_id: 1n, trade_time: BigInt(end_time) * 1_000n },
  ])
  expect(compareDumps(await dumpMarket(live.address), await dumpMarket(grouped.address))).toEqual([])
})

it('a buy offer for an unknown asset is invalid', async () => {
  const minted = {
    asset_id: 1n,
    ...{ authorized_minter: 'alice', collection_name: 'cards', schema_name: 'odd', template_id: -1 },
    ...{ new_asset_owner: 'bob', immutable_data: [], mutable_data: [] },
  }
  const buyoffer = {
    ...{ buyer: 'carol', recipient: 'bob', price: '1.00000000 WAX', memo: '' },
    ...{ maker_marketplace: '', collection_name: 'cards', collection_fee: 0.05 },
  }
  await writeBoth([
    configured,
    action('assets', 'logmint', minted),
    action('market', 'lognewbuyo', { ...buyoffer, buyoffer_id: 1n, asset_ids: [1n] }),
    action('market', 'lognewbuyo', { ...buyoffer, buyoffer_id: 2n, asset_ids: [1n, 2n] }),
  ])
  for (const { address } of [live, grouped])
    expect(await select(address, 'SELECT buyoffer_id, state FROM market.buyoffers ORDER BY 1')).toEqual([
      { buyoffer_id: 1n, state: 0 },
      { buyoffer_id: 2n, state: 4 },
    ])
})
