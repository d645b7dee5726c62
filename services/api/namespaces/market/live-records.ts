import type { RecordReader } from '../../endpoint/index.ts'
import type { ListingReader } from './records/index.ts'
import {
  auctionRecord,
  buyofferRecord,
  readAuctions,
  readBuyoffers,
  readSales,
  readTemplateBuyoffers,
  saleRecord,
  templateBuyofferRecord,
} from './records/index.ts'
import type { MarketSetup } from './setup.ts'

/** The records that events of the namespace tell of. */
export function marketRecords(setup: MarketSetup): Record<string, RecordReader> {
  const reader = (schema: RecordReader['schema'], read: ListingReader): RecordReader => ({
    schema,
    read: (session, keys) => read(session, setup, keys),
  })
  return {
    sale: reader(saleRecord, readSales),
    auction: reader(auctionRecord, readAuctions),
    buyoffer: reader(buyofferRecord, readBuyoffers),
    template_buyoffer: reader(templateBuyofferRecord, readTemplateBuyoffers),
  }
}
