import type { RecordKind } from '../../../records/index.ts'
import { recordKind } from '../../../records/index.ts'
import type { RecordSource } from '../../nft/records/index.ts'
import { assetAssembler } from '../../nft/records/index.ts'
import type { MarketTraits } from './asset-members.ts'
import { containedAssetExtension } from './asset-members.ts'
import type { ListingKind } from './listing-kinds.ts'
import { auctions, buyoffers, sales, templateBuyoffers } from './listing-kinds.ts'
import type { ListingEnd } from './listing-records.ts'
import { listingAssembler } from './listing-records.ts'
import { payoutAssembler } from './royalty-records.ts'

/** The records of the market contract. */
export interface MarketRecords {
  readonly sale: RecordKind
  /** Sales as lists show them: with their place in the answer. */
  readonly listedSale: RecordKind
  readonly auction: RecordKind
  readonly buyoffer: RecordKind
  readonly templateBuyoffer: RecordKind
  /** By `seq/payout_index`. */
  readonly payout: RecordKind
}

/** The records of a market. @param assets what the assets in them are assembled with. */
export function marketRecordKinds(traits: MarketTraits, assets: RecordSource): MarketRecords {
  const contained = assetAssembler(assets, containedAssetExtension(traits))
  const kindOf = (listing: ListingKind, end?: ListingEnd): RecordKind =>
    recordKind(assets.shared, listingAssembler({ ...traits, assets, contained }, listing, end))
  return {
    sale: kindOf(sales),
    listedSale: kindOf(sales, 'with its place'),
    auction: kindOf(auctions),
    buyoffer: kindOf(buyoffers),
    templateBuyoffer: kindOf(templateBuyoffers),
    payout: recordKind(assets.shared, payoutAssembler(traits)),
  }
}
