import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { MirrorNode } from '../../scripts/lab/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { compareDumps, dumpDatabase } from './database-dump.ts'
import type { DatabaseDump } from './database-dump.ts'
import { indexUntil, startChain } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { createBegunDatabase } from './indexed-database.ts'
import { findViolations } from '../../scripts/simulation/invariants.ts'
import { patient } from '../setup/patience.ts'

/** Activity mix of mostly market actions, with asset transfers and burns that invalidate listings. */
const marketMix = {
  mint: 14,
  transfer: 10,
  editAsset: 6,
  burn: 1,
  deploy: 3,
  newMarketplace: 0.5,
  changeBonusFee: 0.5,
  changeRoyalties: 2,
  withdraw: 1,
  writePrices: 5,
  announceSale: 20,
  startSale: 3,
  purchaseSale: 16,
  cancelSale: 2,
  withdrawSaleOffer: 1,
  paySaleRam: 0.3,
  announceAuction: 8,
  startAuction: 3,
  bid: 9,
  claimAuction: 6,
  cancelAuction: 1,
  payAuctionRam: 0.3,
  createBuyoffer: 8,
  acceptBuyoffer: 5,
  declineBuyoffer: 1,
  cancelBuyoffer: 1,
  payBuyofferRam: 0.3,
  createTemplateBuyoffer: 5,
  fulfillTemplateBuyoffer: 4,
  cancelTemplateBuyoffer: 1,
}

/** Number of recorded blocks before the generated blocks. */
const RECORDED = 964
const GENERATED = 240
const LAST = RECORDED + GENERATED

let irreversible: TestChain
let mirror: MirrorNode
/** The same chain as `irreversible`, from a node that reports the generated blocks as reversible. */
let reversible: TestChain
const databases: TestDatabase[] = []

beforeAll(async () => {
  irreversible = await startChain({
    blocks: GENERATED,
    rate: 9,
    mix: marketMix,
    libLagBlocks: 0,
    seed: 31,
  })
  mirror = new MirrorNode(irreversible.chain, { libLagBlocks: GENERATED })
  await mirror.start()
  reversible = { ...irreversible, shipUrl: mirror.url, hasRoots: false }
})

afterEach(async () => {
  await Promise.all(databases.splice(0).map((database) => database.drop()))
})

afterAll(async () => {
  await mirror.stop()
  await irreversible.chain.stop()
})

/** Creates a database that is dropped after the test. */
async function create(make: () => Promise<TestDatabase> = createTestDatabase): Promise<DatabaseAddress> {
  const database = await make()
  databases.push(database)
  return database.address
}

/** Dumps the tables of the families `assets`, `market` and `oracle`. */
async function dumpFamilies(address: DatabaseAddress): Promise<DatabaseDump> {
  return dumpTables(address, /^(assets|market|oracle)\./)
}

async function dumpTables(address: DatabaseAddress, names: RegExp): Promise<DatabaseDump> {
  const dump = await dumpDatabase(address)
  return new Map([...dump].filter(([name]) => names.test(name)))
}

async function select<T extends object>(address: DatabaseAddress, statement: string): Promise<T[]> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    return (await client.query<T>(statement)).rows
  } finally {
    await client.end()
  }
}

async function count(address: DatabaseAddress, from: string): Promise<number> {
  const rows = await select<{ count: bigint }>(address, `SELECT count(*) AS count FROM ${from}`)
  return Number(rows[0]!.count)
}

it(
  'market statistics equal statistics recomputed from listings, whether blocks are committed singly or together',
  { timeout: patient(240_000) },
  async () => {
    const [followed, atOnce] = [await create(createBegunDatabase), await create(createBegunDatabase)]
    await indexUntil(reversible, followed, LAST)
    expect(await findViolations(followed)).toEqual([])
    await indexUntil(irreversible, atOnce, LAST, { settings: { db_group_blocks: 1_000 } })
    expect(await findViolations(atOnce)).toEqual([])
    expect(compareDumps(await dumpFamilies(followed), await dumpFamilies(atOnce))).toEqual([])
    for (const [rows, least] of [
      ['market.trades WHERE kind = 1', 20],
      ['market.trades WHERE kind = 2', 2],
      ['market.trades WHERE kind = 3', 5],
      ['market.trades WHERE kind = 4', 3],
      ['market.trades WHERE asset_count > 1', 1],
      ['market.sales WHERE state = 3 AND listing_symbol <> settlement_symbol', 3],
      ['market.sales WHERE state = 4', 1],
      ['market.buyoffers WHERE state = 4', 1],
      ['market.royalty_payouts WHERE kind <> 0', 3],
    ] as const)
      expect({ [rows]: (await count(atOnce, rows)) >= least }).toEqual({ [rows]: true })
  },
)

const START_BLOCK = RECORDED + 1
/** Sales that were created and sold from START_BLOCK on: a reader that starts there has all of their data. */
const soldSince = `market.sales WHERE state = 3 AND created_at_block >= ${START_BLOCK}`
const byOracle = `${soldSince} AND intended_median > 0`

it(
  'a reader prices sales with oracle pairs that are older than its start block, whether blocks are reversible or not',
  { timeout: patient(240_000) },
  async () => {
    const whole = await create(createBegunDatabase)
    const [followed, atOnce] = [await create(), await create()]
    await indexUntil(irreversible, whole, LAST)
    await indexUntil(irreversible, atOnce, LAST, { settings: { start_block: START_BLOCK } })
    await indexUntil(reversible, followed, LAST, { settings: { start_block: START_BLOCK } })
    const prices = `SELECT sale_id, price FROM ${soldSince} ORDER BY 1`
    const expected = await select(whole, prices)
    expect(await count(whole, byOracle)).toBeGreaterThan(10)
    expect(await select(atOnce, prices)).toEqual(expected)
    const tables = /^(market\.(sales|trades)|oracle\.)/
    const live = await dumpTables(followed, tables)
    expect(compareDumps(live, await dumpTables(atOnce, tables))).toEqual([])
    expect(await count(atOnce, 'oracle.pairs WHERE updated_at_block < 965')).toBe(0)
  },
)

it(
  'each oracle pair that cannot be read from the node is reported once, and a restart reads the pair',
  { timeout: patient(240_000) },
  async () => {
    const { chain, httpUrl, shipUrl } = irreversible
    const atOnce = await create()
    const node = createServer((request, response) => {
      if (request.url === '/v1/chain/get_table_rows') return response.writeHead(500).end('{}')
      return void text(request)
        .then((body) => fetch(new URL(request.url!, httpUrl), { method: 'POST', body }))
        .then(async (answer) => response.end(await answer.text()))
    }).listen(0, '127.0.0.1')
    await once(node, 'listening')
    const lines: string[] = []
    const logger = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } })
    const http = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
    const unpriced = `${byOracle} AND price IS NULL`
    const middle = RECORDED + GENERATED / 2
    try {
      await indexUntil(irreversible, atOnce, middle, {
        settings: { start_block: START_BLOCK },
        options: { logger, chain: { chainId: chain.chainId, http, ship: [shipUrl] } },
      })
    } finally {
      node.closeAllConnections()
      node.close()
    }
    const warnings = () => lines.filter((line) => line.includes('oracle pair waxpusd'))
    // Two tables could not be read: one warning names the oracle's table, the other one the market's.
    expect(lines.filter((line) => line.includes('could not be read from the chain node'))).toHaveLength(2)
    expect(warnings()).toHaveLength(1)
    expect(await count(atOnce, unpriced)).toBeGreaterThan(0)

    await indexUntil(irreversible, atOnce, LAST, {
      settings: { start_block: START_BLOCK },
      options: { logger },
    })
    expect(warnings()).toHaveLength(1)
    expect(await count(atOnce, "oracle.pairs WHERE pair_name = 'waxpusd' AND median > 0")).toBe(1)
    expect(await count(atOnce, `${unpriced} AND updated_at_block > ${middle}`)).toBe(0)
    expect(await count(atOnce, `${byOracle} AND updated_at_block > ${middle}`)).toBeGreaterThan(0)
  },
)
