import { connectDatabase } from '../../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../../services/core/database/index.ts'
import { FIRST_ASSET_ID } from './assets.ts'
import { blockTime } from './chain-clock.ts'
import { Random } from './choice.ts'
import { ListingWriter } from './market-rows.ts'
import type { ListingSource } from './market-rows.ts'
import { bidsSql, lastSequence, logsSql, payoutsSql, settingsSql } from './market-sql.ts'
import type { MarketWorld } from './market-sql.ts'
import { marketSumsSql } from './market-sums.ts'

/** Width of a partition of an append-only table, as a number of sequence numbers; see chain.ensure_partition. */
const PARTITION_WIDTH = 8_589_934_592

/** Memory of one sort or hash table of the SQL that derives rows. */
const SORT_MEMORY = '128MB'

/** Inputs of the generated market. Its own seed makes the market rows independent of the other generated rows. */
export interface MarketOptions extends Omit<ListingSource, 'random'> {
  readonly seed: string
}

/**
 * Fills the market tables with listings of the existing assets, and with the values that the filler would derive from
 * them. Equal sizes and seed give equal rows.
 */
export async function writeMarket(
  address: DatabaseAddress,
  { seed, ...source }: MarketOptions,
  note: (step: string) => void = () => undefined,
): Promise<void> {
  const { sizes, lastBlock } = source
  const world: MarketWorld = {
    assets: sizes.assets,
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
    await client.query(settingsSql(world))
    const listings = new ListingWriter(address, { ...source, random: new Random(`${seed} market`) })
    await listings.sales()
    note(`${sizes.sales} sales`)
    await listings.auctions()
    await listings.buyoffers()
    await listings.templateBuyoffers()
    note(`${sizes.auctions} auctions, ${sizes.buyoffers} buy offers`)
    // Without statistics PostgreSQL would hash whole large tables instead of looking up rows by key.
    await client.query('ANALYZE assets.assets, assets.templates, assets.collections, market.sales')
    await client.query(`SET work_mem = '${SORT_MEMORY}'`)
    for (const sql of [bidsSql(), payoutsSql(world), logsSql()]) await client.query(sql)
    note('bids, payouts and logs of the market')
    await client.query(marketSumsSql(blockTime(lastBlock)))
    note('sums of the market')
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
