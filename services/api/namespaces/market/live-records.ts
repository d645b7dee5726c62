import type { RecordReader } from '../../endpoint/index.ts'
import { liveRecord } from '../nft/endpoints/index.ts'
import type { MarketSetup } from './setup.ts'

const parties = {
  ...{ accounts: ['r.seller', 'r.buyer'], collection: 'r.collection_name', assets: 'r.asset_ids' },
  keyType: 'bigint',
} as const

/** The records that events of the namespace carry. */
export function marketRecords({ records }: MarketSetup): Record<string, RecordReader> {
  return {
    sale: liveRecord(records.sale, {
      ...parties,
      ...{ table: 'market.sales', key: 'r.sale_id', path: '/v1/sales/' },
    }),
    auction: liveRecord(records.auction, {
      ...parties,
      ...{ table: 'market.auctions', key: 'r.auction_id', path: '/v1/auctions/' },
    }),
    buyoffer: liveRecord(records.buyoffer, {
      ...parties,
      ...{ table: 'market.buyoffers', key: 'r.buyoffer_id', path: '/v1/buyoffers/' },
    }),
    template_buyoffer: liveRecord(records.templateBuyoffer, {
      ...parties,
      ...{ table: 'market.template_buyoffers', key: 'r.buyoffer_id', path: '/v1/template_buyoffers/' },
      ...{ template: 'r.template_id', assets: 'ARRAY[r.asset_id]' },
    }),
  }
}
