import type { ActionContext, ActionHandler } from '../runtime/index.ts'
import { MARKET_ACCOUNT } from './market-rows.ts'
import type { AuctionRow } from './market-rows.ts'
import { payOut } from './market-payout.ts'
import {
  assetHeldBy,
  changeBalance,
  changePayer,
  eraseListing,
  findListing,
  isSecondMarket,
  listingOf,
  marketConfigOf,
  nextMarketId,
  putListing,
  sendAssets,
  termsOf,
} from './market-shared.ts'
import { ASSETS_ACCOUNT } from './rows.ts'

/** Handlers of the auction actions, and of asset transfers to the market. */
export const auctionActions: readonly [string, ActionHandler][] = [
  ['announceauct', announceAuction],
  ['lognewauct', (context) => context.notify((context.data() as AuctionRow).seller)],
  ['auctionbid', bid],
  ['cancelauct', cancelAuction],
  ['auctclaimbuy', claimAssets],
  ['auctclaimsel', claimPrice],
  ['payauctram', payAuctionRam],
  [`${ASSETS_ACCOUNT}::transfer`, startAuction],
]

function announceAuction(context: ActionContext): void {
  const data = context.data() as {
    seller: string
    asset_ids: bigint[]
    starting_bid: string
    duration: number
    maker_marketplace: string
  }
  const id = nextMarketId(context, 'auction')
  const { seller, asset_ids: ids } = data
  const { collection_name: collection } = assetHeldBy(context, seller, ids[0]!)
  const terms = termsOf(context, collection, data.maker_marketplace)
  const end = context.host.nowSeconds + data.duration
  putListing(
    context,
    { table: 'auctions', id, payer: seller },
    {
      ...terms,
      auction_id: id,
      seller,
      asset_ids: ids,
      end_time: end,
      assets_transferred: false,
      current_bid: data.starting_bid,
      current_bidder: '',
      claimed_by_seller: false,
      claimed_by_buyer: false,
      taker_marketplace: '',
    },
  )
  context.log('lognewauct', { ...data, ...terms, auction_id: id, end_time: end })
}

/** Handler of an asset transfer with the memo `auction`: starts the sender's announced auction of these assets. */
function startAuction(context: ActionContext): void {
  const data = context.data() as { from: string; to: string; asset_ids: bigint[]; memo: string }
  if (data.to !== context.self || data.memo !== 'auction') return
  const auction = findListing(context, 'auctions', data.from, data.asset_ids)
  if (auction === undefined) return
  put(context, { ...auction, assets_transferred: true })
  context.log('logauctstart', { auction_id: auction.auction_id })
}

function bid(context: ActionContext): void {
  const data = context.data() as {
    bidder: string
    auction_id: bigint
    bid: string
    taker_marketplace: string
  }
  const auction = listingOf(context, 'auctions', data.auction_id)
  const config = marketConfigOf(context)
  if (isDissolved(context, auction)) {
    dissolve(context, auction)
    return
  }
  refundBid(context, auction)
  changeBalance(context, data.bidder, data.bid, -1)
  put(context, {
    ...auction,
    current_bid: data.bid,
    current_bidder: data.bidder,
    taker_marketplace: data.taker_marketplace,
    end_time: Math.max(auction.end_time, context.host.nowSeconds + config.auction_reset_duration),
  })
}

function cancelAuction(context: ActionContext): void {
  const { auction_id: id } = context.data() as { auction_id: bigint }
  dissolve(context, listingOf(context, 'auctions', id))
}

function claimAssets(context: ActionContext): void {
  const { auction_id: id } = context.data() as { auction_id: bigint }
  const auction = listingOf(context, 'auctions', id)
  if (isDissolved(context, auction)) {
    dissolve(context, auction)
    return
  }
  if (auction.claimed_by_seller) eraseListing(context, 'auctions', id)
  else put(context, { ...auction, claimed_by_buyer: true })
  sendAssets(context, auction.current_bidder, auction.asset_ids, `AtomicMarket Won Auction - ID # ${id}`)
}

function claimPrice(context: ActionContext): void {
  const { auction_id: id } = context.data() as { auction_id: bigint }
  const auction = listingOf(context, 'auctions', id)
  if (isDissolved(context, auction)) {
    dissolve(context, auction)
    return
  }
  if (auction.claimed_by_buyer) eraseListing(context, 'auctions', id)
  else put(context, { ...auction, claimed_by_seller: true })
  payOut(context, {
    kind: 'auction',
    id,
    terms: auction,
    taker: auction.taker_marketplace,
    seller: auction.seller,
    price: auction.current_bid,
    holder: auction.claimed_by_buyer ? auction.current_bidder : MARKET_ACCOUNT,
    // Auctions of several assets, from before the second version, pay no royalties: the whole fee goes to the author.
    assetIds: auction.asset_ids.length > 1 ? [] : auction.asset_ids,
    memo: `AtomicMarket Auction Payout - ID #${id}`,
  })
}

function payAuctionRam(context: ActionContext): void {
  const { payer, auction_id: id } = context.data() as { payer: string; auction_id: bigint }
  changePayer(context, 'auctions', id, payer)
}

/**
 * Whether the second market version must cancel this auction: it has several assets, and neither the buyer has claimed
 * the assets nor the seller the price.
 */
function isDissolved(context: ActionContext, auction: AuctionRow): boolean {
  const isSecond = isSecondMarket(marketConfigOf(context).version)
  const isClaimed = auction.claimed_by_buyer || auction.claimed_by_seller
  return isSecond && auction.asset_ids.length > 1 && !isClaimed
}

function dissolve(context: ActionContext, auction: AuctionRow): void {
  const { auction_id: id, seller } = auction
  refundBid(context, auction)
  eraseListing(context, 'auctions', id)
  if (!auction.assets_transferred) return
  sendAssets(context, seller, auction.asset_ids, `AtomicMarket Cancelled Auction - ID # ${id}`)
}

function refundBid(context: ActionContext, auction: AuctionRow): void {
  if (auction.current_bidder !== '') changeBalance(context, auction.current_bidder, auction.current_bid, 1)
}

function put(context: ActionContext, auction: AuctionRow): void {
  putListing(context, { table: 'auctions', id: auction.auction_id, payer: auction.seller }, auction)
}
