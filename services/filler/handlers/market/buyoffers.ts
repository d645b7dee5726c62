import { parseAsset } from '../../../core/antelope/index.ts'
import type { RowSink } from '../../rows/operations.ts'
import type { ActionEvent, BlockInfo } from '../handler.ts'
import type {
  AcceptBuyoffer,
  BundleState,
  FulfillTemplateBuyoffer,
  LogNewBuyoffer,
  LogNewTemplateBuyoffer,
} from './contract.ts'
import { listAssets } from './listed-assets.ts'
import { buyofferStates, deliveredAssets } from './listing-values.ts'
import { linkAssets, newListing, updatedAt } from './listings.ts'
import type { MarketLog } from './log.ts'
import { kinds, tables } from './tables.ts'
import { buyofferTrades, templateBuyofferTrades } from './trades.ts'

/** Buy offer states that actions set; state 4 (invalid) is derived. */
export const buyofferState = { pending: 0, declined: 1, cancelled: 2, accepted: 3 } as const
export const templateBuyofferState = { listed: 0, cancelled: 1, sold: 2 } as const

/**
 * Converts a template id: the action stores 64 bits, a template id has 31 bits.
 * @throws RangeError for an id above 31 bits.
 */
function templateIdOf({ template_id: id }: LogNewTemplateBuyoffer): number {
  if (id >= 2n ** 31n) throw new RangeError(`field template_id is ${id}, but template ids are below 2^31`)
  return Number(id)
}

/** Collects the effects of a block's actions and rows on buy offers and template buy offers. */
export class Buyoffers {
  readonly #block: BlockInfo
  readonly #sink: RowSink
  readonly #log: MarketLog
  readonly #isV2: boolean
  /** Asset counts of the buy offers whose contract row this block removed. */
  readonly #removed = new Map<bigint, number>()
  readonly #accepted: { readonly event: ActionEvent; readonly acceptance: AcceptBuyoffer }[] = []

  constructor(block: BlockInfo, sink: RowSink, log: MarketLog, isV2: boolean) {
    this.#block = block
    this.#sink = sink
    this.#log = log
    this.#isV2 = isV2
  }

  create(log: LogNewBuyoffer): void {
    const { amount, symbol } = parseAsset(log.price)
    this.#sink.insert(tables.buyoffers, {
      buyoffer_id: log.buyoffer_id,
      ...newListing(this.#block, log),
      ...listAssets(log.asset_ids),
      seller: log.recipient,
      buyer: log.buyer,
      price: amount,
      token_symbol: symbol,
      memo: log.memo,
      decline_memo: null,
    })
    linkAssets(this.#sink, kinds.buyoffer, log.buyoffer_id, log.asset_ids)
    for (const assetId of log.asset_ids) this.#sink.recheck(buyofferStates, assetId)
  }

  cancel(buyofferId: bigint): void {
    this.#patch(buyofferId, { state: buyofferState.cancelled })
  }

  decline(buyofferId: bigint, memo: string): void {
    this.#patch(buyofferId, { state: buyofferState.declined, decline_memo: memo })
  }

  /**
   * Defers the acceptance of a buy offer to `end`: only the removed row shows whether the offer is for several assets.
   */
  accept(event: ActionEvent, acceptance: AcceptBuyoffer): void {
    this.#log.reserve(event)
    this.#accepted.push({ event, acceptance })
  }

  /** Takes a contract row of a buy offer; a removed row gives the number of its assets. */
  row(buyofferId: bigint, value: () => BundleState, present: boolean): void {
    if (this.#isV2 && !present) this.#removed.set(buyofferId, value().asset_ids.length)
  }

  end(): void {
    for (const { event, acceptance } of this.#accepted) {
      const { buyoffer_id: id, taker_marketplace } = acceptance
      // Version 2 of the market contract buys single assets only. The acceptance of a buy offer for several assets,
      // which version 1 allowed, refunds the buyer.
      const isDissolved = (this.#removed.get(id) ?? 1) > 1
      if (isDissolved) this.decline(id, '')
      else {
        this.#patch(id, { state: buyofferState.accepted, taker_marketplace })
        this.#sink.recheck(buyofferTrades, id)
      }
      // The log of an accepted buy offer has no data, because the row of the buy offer already stores the action's
      // data.
      this.#log.complete(event, id, isDissolved ? { taker_marketplace } : null)
    }
  }

  createForTemplate(log: LogNewTemplateBuyoffer): void {
    const { amount, symbol } = parseAsset(log.price)
    this.#sink.insert(tables.templateBuyoffers, {
      buyoffer_id: log.buyoffer_id,
      ...newListing(this.#block, log),
      seller: null,
      buyer: log.buyer,
      price: amount,
      token_symbol: symbol,
      template_id: templateIdOf(log),
      asset_id: null,
      mint: null,
      schema_name: null,
      name: null,
      traits: [],
    })
  }

  cancelForTemplate(buyofferId: bigint): void {
    this.#patchForTemplate(buyofferId, { state: templateBuyofferState.cancelled })
  }

  fulfill({ buyoffer_id, seller, asset_id, taker_marketplace }: FulfillTemplateBuyoffer): void {
    const state = templateBuyofferState.sold
    this.#patchForTemplate(buyoffer_id, { state, seller, asset_id, taker_marketplace })
    linkAssets(this.#sink, kinds.templateBuyoffer, buyoffer_id, [asset_id])
    this.#sink.recheck(deliveredAssets, buyoffer_id)
    this.#sink.recheck(templateBuyofferTrades, buyoffer_id)
  }

  #patch(buyofferId: bigint, changes: object): void {
    this.#sink.patch(tables.buyoffers, { buyoffer_id: buyofferId }, { ...changes, ...updatedAt(this.#block) })
  }

  #patchForTemplate(buyofferId: bigint, changes: object): void {
    this.#sink.patch(
      tables.templateBuyoffers,
      { buyoffer_id: buyofferId },
      { ...changes, ...updatedAt(this.#block) },
    )
  }
}
