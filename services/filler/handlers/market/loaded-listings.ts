import type { RowSink } from '../../rows/operations.ts'
import { buyofferState, templateBuyofferState } from './buyoffers.ts'
import { buyofferStates, deliveredAssets, salePrices, saleStates } from './listing-values.ts'
import { linkAssets } from './listings.ts'
import { saleState } from './sales.ts'
import { kinds } from './tables.ts'
import type { AuctionRow, BuyofferRow, SaleRow, TemplateBuyofferRow } from './tables.ts'
import { auctionTrades, buyofferTrades, saleTrades, templateBuyofferTrades } from './trades.ts'

/**
 * Adds the dependent rows of imported listings to a unit and schedules their derivations. The caller writes the
 * listing rows.
 */
export const loadedListings = {
  sale: (row: Pick<SaleRow, 'sale_id' | 'state' | 'offer_id' | 'asset_ids'>, sink: RowSink): void => {
    const { sale_id: id, state, offer_id: offer } = row
    linkAssets(sink, kinds.sale, id, row.asset_ids)
    if (state === saleState.listed && offer !== null) sink.recheck(saleStates, offer)
    if (state !== saleState.sold) return
    sink.recheck(salePrices, id)
    sink.recheck(saleTrades, id)
  },
  auction: (
    { auction_id: id, asset_ids }: Pick<AuctionRow, 'auction_id' | 'asset_ids'>,
    sink: RowSink,
  ): void => {
    linkAssets(sink, kinds.auction, id, asset_ids)
    sink.recheck(auctionTrades, id)
  },
  buyoffer: (row: Pick<BuyofferRow, 'buyoffer_id' | 'state' | 'asset_ids'>, sink: RowSink): void => {
    const { buyoffer_id: id, state, asset_ids } = row
    linkAssets(sink, kinds.buyoffer, id, asset_ids)
    if (state === buyofferState.pending) for (const asset of asset_ids) sink.recheck(buyofferStates, asset)
    if (state === buyofferState.accepted) sink.recheck(buyofferTrades, id)
  },
  templateBuyoffer: (
    row: Pick<TemplateBuyofferRow, 'buyoffer_id' | 'state' | 'asset_id'>,
    sink: RowSink,
  ): void => {
    const { buyoffer_id: id, state, asset_id: asset } = row
    if (state !== templateBuyofferState.sold) return
    if (asset !== null) linkAssets(sink, kinds.templateBuyoffer, id, [asset])
    sink.recheck(deliveredAssets, id)
    sink.recheck(templateBuyofferTrades, id)
  },
}
