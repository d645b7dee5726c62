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

/** Width of a partition of an append-only table, in sequences; see chain.ensure_partition. */
const PARTITION_WIDTH = 8_589_934_592

/** Scale and seed of the generated market. */
export interface MarketOptions {
  readonly sizes: GeneratedSizes
  readonly lastBlock: number
  readonly seed: string
}

/**
 * Fills the market tables with listings of the existing assets, and with the values that the filler would derive from
 * them. Equal sizes and seed give equal rows.
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
    // Without statistics PostgreSQL would hash whole large tables instead of looking up rows by key.
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

/** A number of 20 bits derived from a text. */
function numberOf(seed: string): number {
  let number = 0
  for (const character of seed) number = (number * 31 + character.codePointAt(0)!) & 0xfffff
  return number
}
