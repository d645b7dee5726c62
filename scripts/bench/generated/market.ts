import { connectDatabase } from '../../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../../services/core/database/index.ts'
import { FIRST_ASSET_ID } from './assets.ts'
import { blockTime } from './chain-clock.ts'
import type { MarketWorld } from './market-rows.ts'
import {
  auctionsSql,
  buyoffersSql,
  lastSequence,
  logsSql,
  payoutsSql,
  salesSql,
  settingsSql,
} from './market-rows.ts'
import { marketSumsSql } from './market-sums.ts'
import type { GeneratedSizes } from './sizes.ts'

/** Sequences of one partition of an append-only table; see chain.ensure_partition. */
const PARTITION_WIDTH = 8_589_934_592

/** Which market is generated. */
export interface MarketOptions {
  readonly sizes: GeneratedSizes
  readonly lastBlock: number
  readonly seed: string
}

/**
 * Fills the tables of the market family with listings of the assets that are already there, and with what the filler
 * would have derived from them. The same sizes and seed give the same rows.
 */
export async function writeMarket(
  address: DatabaseAddress,
  { sizes, lastBlock, seed }: MarketOptions,
  note: (step: string) => void = () => undefined,
): Promise<void> {
  const world: MarketWorld = {
    ...sizes,
    firstAssetId: FIRST_ASSET_ID,
    lastBlock,
    startTime: blockTime(0),
    seed: numberOf(seed),
  }
  const client = await connectDatabase(address, { applicationName: 'generate' })
  try {
    for (const table of ['market.blocks', 'market.bids', 'market.logs', 'market.royalty_payouts']) {
      for (let seq = 0; seq <= lastSequence(world); seq += PARTITION_WIDTH) {
        await client.query('SELECT chain.ensure_partition($1, $2)', [table, seq])
      }
    }
    // Rows are found by the keys of large tables: without statistics they would be hashed whole.
    await client.query('ANALYZE assets.assets, assets.templates, assets.collections')
    await client.query(settingsSql(world))
    for (const sql of [
      salesSql(world),
      auctionsSql(world),
      buyoffersSql(world),
      payoutsSql(world),
      logsSql(),
    ])
      await client.query(sql)
    note(`${sizes.sales} sales, ${sizes.auctions} auctions, ${sizes.buyoffers} buy offers`)
    await client.query('ANALYZE market.sales, market.trades')
    await client.query(marketSumsSql(blockTime(lastBlock)))
  } finally {
    await client.end()
  }
}

/** A number of 20 bits from a text. */
function numberOf(seed: string): number {
  let number = 0
  for (const character of seed) number = (number * 31 + character.codePointAt(0)!) & 0xfffff
  return number
}
