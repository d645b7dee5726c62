import { PartCache } from '../../assets/index.ts'
import type { MarketPartCaches } from '../setup.ts'
import { templatePrices } from './asset-members.ts'
import { auctions, buyoffers, sales, templateBuyoffers } from './listing-kinds.ts'

const MEBIBYTE = 1024 * 1024

/** The parts that only a market has, kept between requests; at most 28 MB. */
export class MarketParts implements MarketPartCaches {
  readonly prices = new PartCache(templatePrices, 4 * MEBIBYTE)
  readonly sales = new PartCache(sales.part, 12 * MEBIBYTE)
  readonly auctions = new PartCache(auctions.part, 4 * MEBIBYTE)
  readonly buyoffers = new PartCache(buyoffers.part, 4 * MEBIBYTE)
  readonly templateBuyoffers = new PartCache(templateBuyoffers.part, 4 * MEBIBYTE)

  clear(): void {
    const { prices, sales, auctions, buyoffers, templateBuyoffers } = this
    for (const kept of [prices, sales, auctions, buyoffers, templateBuyoffers]) kept.clear()
  }
}
