import { parseAsset } from '../../../core/antelope/index.ts'
import type { RowSink } from '../../rows/operations.ts'
import type { ActionEvent, BlockInfo } from '../handler.ts'
import type { AuctionBid, AuctionState, LogNewAuction } from './contract.ts'
import { listAssets } from './listed-assets.ts'
import { linkAssets, newListing, updatedAt } from './listings.ts'
import { kinds, tables } from './tables.ts'
import { auctionTrades } from './trades.ts'

/** Auction states that actions set. Whether a started auction has finished is derived from the clock. */
const auctionState = { waiting: 0, started: 1, cancelled: 2 } as const

/**
 * A bid or a claim. Version 2 of the market contract may dissolve a bundle (an auction of several assets) when an
 * account bids on the bundle or claims it.
 */
type Step =
  | { readonly kind: 'bid'; readonly id: bigint; readonly seq: bigint; readonly bid: AuctionBid }
  | { readonly kind: 'claim'; readonly id: bigint; readonly by: 'seller' | 'buyer' }

/** Collects the effects of a block's actions and rows on auctions. */
export class Auctions {
  readonly #block: BlockInfo
  readonly #sink: RowSink
  readonly #isV2: boolean
  readonly #steps: Step[] = []
  readonly #bidOn = new Set<bigint>()
  /**
   * Auctions of several assets that contract version 2 dissolved in this block: the row was removed before any claim.
   */
  readonly #dissolved = new Set<bigint>()

  constructor(block: BlockInfo, sink: RowSink, isV2: boolean) {
    this.#block = block
    this.#sink = sink
    this.#isV2 = isV2
  }

  create(log: LogNewAuction): void {
    const { amount, symbol } = parseAsset(log.starting_bid)
    this.#sink.insert(tables.auctions, {
      auction_id: log.auction_id,
      ...newListing(this.#block, log),
      ...listAssets(log.asset_ids),
      seller: log.seller,
      buyer: null,
      end_time: log.end_time,
      starting_price: amount,
      price: amount,
      token_symbol: symbol,
      claimed_by_seller: false,
      claimed_by_buyer: false,
    })
    linkAssets(this.#sink, kinds.auction, log.auction_id, log.asset_ids)
  }

  start(auctionId: bigint): void {
    this.#patch(auctionId, { state: auctionState.started })
  }

  cancel(auctionId: bigint): void {
    this.#patch(auctionId, { state: auctionState.cancelled })
    // Version 2 of the contract can cancel a finished auction of several assets that nobody has claimed. The database
    // already counts such an auction as a trade, so recheck the trade.
    this.#sink.recheck(auctionTrades, auctionId)
  }

  bid(event: ActionEvent, bid: AuctionBid): void {
    this.#bidOn.add(bid.auction_id)
    this.#steps.push({ kind: 'bid', id: bid.auction_id, seq: event.seq, bid })
  }

  claim(auctionId: bigint, by: 'seller' | 'buyer'): void {
    this.#steps.push({ kind: 'claim', id: auctionId, by })
  }

  /**
   * Takes a contract row of an auction. After a bid, only the contract row contains the new end time. If the row of an
   * auction of several assets is removed before a claim, version 2 of the contract has dissolved the auction.
   */
  row(auctionId: bigint, value: () => AuctionState, present: boolean): void {
    if (present) {
      if (this.#bidOn.has(auctionId))
        this.#sink.patch(tables.auctions, { auction_id: auctionId }, { end_time: value().end_time })
    } else if (this.#isV2) {
      const { asset_ids, claimed_by_seller, claimed_by_buyer } = value()
      if (asset_ids.length > 1 && !claimed_by_seller && !claimed_by_buyer) this.#dissolved.add(auctionId)
    }
  }

  end(): void {
    for (const step of this.#steps) {
      if (this.#dissolved.has(step.id)) this.cancel(step.id)
      else if (step.kind === 'bid') this.#applyBid(step.seq, step.bid)
      else
        this.#patch(step.id, step.by === 'seller' ? { claimed_by_seller: true } : { claimed_by_buyer: true })
    }
  }

  #applyBid(seq: bigint, { auction_id, bidder, bid, taker_marketplace }: AuctionBid): void {
    const { amount } = parseAsset(bid)
    this.#patch(auction_id, { buyer: bidder, price: amount, taker_marketplace })
    this.#sink.append(tables.bids, { seq, auction_id, amount, account: bidder })
  }

  #patch(auctionId: bigint, changes: object): void {
    this.#sink.patch(tables.auctions, { auction_id: auctionId }, { ...changes, ...updatedAt(this.#block) })
  }
}
