import { parseAsset, parseSymbol } from '../../../core/antelope/index.ts'
import type { RowSink } from '../../rows/operations.ts'
import type { ActionEvent, BlockInfo } from '../handler.ts'
import type { BundleState, LogNewSale, PurchaseSale } from './contract.ts'
import { listAssets } from './listed-assets.ts'
import { saleStates, salePrices } from './listing-values.ts'
import { linkAssets, newListing, updatedAt } from './listings.ts'
import type { MarketLog } from './log.ts'
import { kinds, tables } from './tables.ts'
import { saleTrades } from './trades.ts'

/** Sale states that actions set; `invalid` is derived. */
export const saleState = { waiting: 0, listed: 1, cancelled: 2, sold: 3, invalid: 4 } as const

/** Collects the effects of a block's actions and rows on sales. */
export class Sales {
  readonly #block: BlockInfo
  readonly #sink: RowSink
  readonly #log: MarketLog
  readonly #isV2: boolean
  /** Asset counts of the sales whose contract row this block removed. */
  readonly #removed = new Map<bigint, number>()
  readonly #purchases: { readonly event: ActionEvent; readonly purchase: PurchaseSale }[] = []

  constructor(block: BlockInfo, sink: RowSink, log: MarketLog, isV2: boolean) {
    this.#block = block
    this.#sink = sink
    this.#log = log
    this.#isV2 = isV2
  }

  create(log: LogNewSale): void {
    const listing = parseAsset(log.listing_price)
    const settlement = parseSymbol(log.settlement_symbol)
    const isDirect = listing.symbol === settlement.symbol
    this.#sink.insert(tables.sales, {
      sale_id: log.sale_id,
      ...newListing(this.#block, log),
      ...listAssets(log.asset_ids),
      seller: log.seller,
      buyer: null,
      listing_price: listing.amount,
      price: isDirect ? listing.amount : null,
      offer_id: null,
      intended_median: null,
      listing_precision: listing.precision,
      settlement_precision: settlement.precision,
      listing_symbol: listing.symbol,
      settlement_symbol: settlement.symbol,
    })
    linkAssets(this.#sink, kinds.sale, log.sale_id, log.asset_ids)
  }

  start(saleId: bigint, offerId: bigint): void {
    this.#patch(saleId, { state: saleState.listed, offer_id: offerId })
    this.#sink.recheck(saleStates, offerId)
  }

  cancel(saleId: bigint): void {
    this.#patch(saleId, { state: saleState.cancelled })
  }

  /** Defers a purchase to `end`: only the removed contract row shows whether the sale has several assets. */
  purchase(event: ActionEvent, purchase: PurchaseSale): void {
    this.#log.reserve(event)
    this.#purchases.push({ event, purchase })
  }

  /** Takes a contract row of a sale; a removed row gives the number of its assets. */
  row(saleId: bigint, value: () => BundleState, present: boolean): void {
    if (this.#isV2 && !present) this.#removed.set(saleId, value().asset_ids.length)
  }

  end(): void {
    for (const { event, purchase } of this.#purchases) {
      const { sale_id: id, taker_marketplace, intended_delphi_median } = purchase
      // Version 2 of the market contract sells single assets only. The purchase of a sale of several assets, which
      // version 1 allowed, cancels the sale without a payment.
      const isDissolved = (this.#removed.get(id) ?? 1) > 1
      if (isDissolved) this.cancel(id)
      else this.#sell(purchase)
      // The log of a sold sale has no data, because the row of the sale already stores the action's data.
      this.#log.complete(event, id, isDissolved ? { taker_marketplace, intended_delphi_median } : null)
    }
  }

  #sell(purchase: PurchaseSale): void {
    this.#patch(purchase.sale_id, {
      state: saleState.sold,
      buyer: purchase.buyer,
      taker_marketplace: purchase.taker_marketplace,
      intended_median: purchase.intended_delphi_median,
    })
    this.#sink.recheck(salePrices, purchase.sale_id)
    this.#sink.recheck(saleTrades, purchase.sale_id)
  }

  #patch(saleId: bigint, changes: object): void {
    this.#sink.patch(tables.sales, { sale_id: saleId }, { ...changes, ...updatedAt(this.#block) })
  }
}
