import type { DeclaredKind, RecordKind, RecordSettings } from '../../../records/index.ts'
import { assemblerOf, recordKind } from '../../../records/index.ts'
import type { Fragments } from '../../../records/fragments/index.ts'
import { auctions, buyoffers, listedSales, sales, templateBuyoffers } from './listing-records.ts'
import { payouts } from './royalty-records.ts'

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

/** The records of a market. */
export function marketRecordKinds(shared: Fragments, settings: RecordSettings): MarketRecords {
  const kindOf = (kind: DeclaredKind): RecordKind => recordKind(shared, assemblerOf(kind, settings))
  return {
    sale: kindOf(sales),
    listedSale: kindOf(listedSales),
    auction: kindOf(auctions),
    buyoffer: kindOf(buyoffers),
    templateBuyoffer: kindOf(templateBuyoffers),
    payout: kindOf(payouts),
  }
}
