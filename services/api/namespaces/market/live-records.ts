import type { RecordReader } from '../../endpoint/index.ts'
import { liveRecord } from '../assets/index.ts'
import {
  auctionRecord,
  buyofferRecord,
  saleRecord,
  templateBuyofferRecord,
} from './records/listing-schemas.ts'
import type { MarketSetup } from './setup.ts'

/** The records that events of the namespace carry. */
export function marketRecords({ records }: MarketSetup): Record<string, RecordReader> {
  return {
    sale: liveRecord(saleRecord, records.sale),
    auction: liveRecord(auctionRecord, records.auction),
    buyoffer: liveRecord(buyofferRecord, records.buyoffer),
    template_buyoffer: liveRecord(templateBuyofferRecord, records.templateBuyoffer),
  }
}
