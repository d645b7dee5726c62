import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { compareDumps, dumpDatabase } from './database-dump.ts'
import type { DatabaseDump } from './database-dump.ts'
import { indexUntil, startChain } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { findViolations } from '../../scripts/simulation/invariants.ts'
import { patient } from '../setup/patience.ts'

/** Mostly market life, with the asset moves that listings do not like. */
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

/** Blocks of the recordings that generated ones follow. */
const recorded = 964
const generated = 240

/** The same blocks, which a fork may still undo or not. */
function startActivity(libLagBlocks: number): Promise<TestChain> {
  return startChain({ blocks: generated, rate: 9, mix: marketMix, libLagBlocks, seed: 31 })
}

let irreversible: TestChain
let reversible: TestChain
let atOnce: TestDatabase
let followed: TestDatabase

beforeEach(async () => {
  irreversible = await startActivity(0)
  reversible = await startActivity(generated)
  atOnce = await createTestDatabase()
  followed = await createTestDatabase()
})

afterEach(async () => {
  await irreversible.chain.stop()
  await reversible.chain.stop()
  await atOnce.drop()
  await followed.drop()
})

/** The rows of the families, without columns that depend on the path. */
async function dumpFamilies(address: DatabaseAddress): Promise<DatabaseDump> {
  const dump = await dumpDatabase(address)
  return new Map([...dump].filter(([name]) => /^(assets|market|oracle)\./.test(name)))
}

async function count(address: DatabaseAddress, text: string): Promise<number> {
  const client = await connectDatabase(address, { applicationName: 'test' })
  try {
    const { rows } = await client.query<{ count: bigint }>(`SELECT count(*) AS count FROM ${text}`)
    return Number(rows[0]!.count)
  } finally {
    await client.end()
  }
}

it(
  'statistics equal those recomputed from listings, block by block and at once',
  { timeout: patient(240_000) },
  async () => {
    const last = recorded + generated
    await indexUntil(reversible, followed.address, last)
    expect(await findViolations(followed.address)).toEqual([])
    await indexUntil(irreversible, atOnce.address, last, { settings: { db_group_blocks: 1_000 } })
    expect(await findViolations(atOnce.address)).toEqual([])
    expect(compareDumps(await dumpFamilies(followed.address), await dumpFamilies(atOnce.address))).toEqual([])
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
      expect({ [rows]: (await count(atOnce.address, rows)) >= least }).toEqual({ [rows]: true })
  },
)
