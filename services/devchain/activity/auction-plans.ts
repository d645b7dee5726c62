import { formatAsset, parseAsset } from '../../core/antelope/index.ts'
import { findListing } from '../contracts/market-shared.ts'
import { MARKET_ACCOUNT } from '../contracts/market-rows.ts'
import type { ActionInput } from '../runtime/index.ts'
import type { AuctionRow } from '../contracts/market-rows.ts'
import {
  anyMarketplace,
  anyPerson,
  anyPrice,
  anyRow,
  fund,
  holdsAll,
  mainSymbol,
  marketAction,
  marketConfig,
  payRam,
} from './market-world.ts'
import { anyGoods, isInFlux } from './sale-plans.ts'
import type { Goods } from './sale-plans.ts'
import { assetsAction } from './world.ts'
import type { Plan, World } from './world.ts'

/** Longest duration of an auction, as a multiple of the market's minimum. */
const LONGEST_FACTOR = 3

/** Maximum number of random auctions that are examined to find one that has ended. */
const MAX_TRIES = 6

/** Plan of a transaction: announce an auction, usually with the assets in the same transaction. */
export const announceAuction: Plan = (world) => {
  const { random } = world
  const config = marketConfig(world)
  const goods = config && anyGoods(world, config)
  const symbol = config && mainSymbol(config)
  if (config === null || goods === null || symbol === null) return null
  if (findListing({ host: world.runtime }, 'auctions', goods.owner, goods.ids) !== undefined) return null
  const shortest = Math.max(config.minimum_auction_duration, 1)
  const data = {
    seller: goods.owner,
    asset_ids: goods.ids,
    starting_bid: anyPrice(random, symbol, 0.3),
    duration: random.between(shortest, shortest * LONGEST_FACTOR),
    maker_marketplace: anyMarketplace(world),
  }
  const announcement = marketAction(world, goods.owner, 'announceauct', data)
  return random.chance(0.9) ? [announcement, sendToAuction(world, goods)] : [announcement]
}

/** Plan of a transaction: send the assets of an auction that was announced without them. */
export const startAuction: Plan = (world) => {
  const auction = anyRow(world, 'auctions')
  if (auction === null || auction.assets_transferred || hasEnded(world, auction)) return null
  if (!holdsAll(world, auction.seller, auction.asset_ids)) return null
  return [sendToAuction(world, { owner: auction.seller, ids: auction.asset_ids })]
}

/**
 * Plan of a transaction: bid more than the current bid. The second market version cancels an auction of several assets
 * instead.
 */
export const bid: Plan = (world) => {
  const config = marketConfig(world)
  const auction = anyRow(world, 'auctions')
  if (config === null || auction === null || !auction.assets_transferred) return null
  if (hasEnded(world, auction) || isInFlux(world, auction.asset_ids)) return null
  const bidder = anyPerson(world, [auction.seller, auction.current_bidder])
  if (bidder === null) return null
  const { amount, ...symbol } = parseAsset(auction.current_bid)
  const raise = auction.current_bidder === '' ? 1 : 1 + config.minimum_bid_increase
  const least = BigInt(Math.ceil(Number(amount) * raise))
  const more = world.random.chance(0.5) ? 0n : (amount * BigInt(world.random.below(30))) / 100n
  const quantity = formatAsset({ ...symbol, amount: least + more })
  const funds = fund(world, bidder, quantity)
  if (funds === null) return null
  const data = {
    bidder,
    auction_id: auction.auction_id,
    bid: quantity,
    taker_marketplace: anyMarketplace(world),
  }
  return [...funds, marketAction(world, bidder, 'auctionbid', data)]
}

/** Plan of a transaction: claim an ended auction. The buyer takes the assets, or the seller the price. */
export const claimAuction: Plan = (world) => {
  const auction = endedAuction(world)
  if (auction === null) return null
  const open = [
    ...(auction.claimed_by_buyer ? [] : ['auctclaimbuy']),
    ...(auction.claimed_by_seller ? [] : ['auctclaimsel']),
  ]
  const action = world.random.pick(open)
  const actor = action === 'auctclaimbuy' ? auction.current_bidder : auction.seller
  return [marketAction(world, actor, action, { auction_id: auction.auction_id })]
}

/** Plan of a transaction: cancel an auction without a bid. */
export const cancelAuction: Plan = (world) => {
  const auction = anyRow(world, 'auctions')
  if (auction === null || auction.current_bidder !== '') return null
  return [marketAction(world, auction.seller, 'cancelauct', { auction_id: auction.auction_id })]
}

/** Plan of a transaction: another account takes over the RAM payment of an auction. */
export const payAuctionRam: Plan = payRam('auctions', 'payauctram', 'auction_id')

function endedAuction(world: World): AuctionRow | null {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const auction = anyRow(world, 'auctions')
    if (auction === null) return null
    const isOver = auction.current_bidder !== '' && hasEnded(world, auction)
    if (isOver && !isInFlux(world, auction.asset_ids)) return auction
  }
  return null
}

function hasEnded(world: World, auction: AuctionRow): boolean {
  return auction.end_time <= world.runtime.nowSeconds
}

function sendToAuction(world: World, { owner, ids }: Goods): ActionInput {
  const data = { from: owner, to: MARKET_ACCOUNT, asset_ids: ids, memo: 'auction' }
  return assetsAction(world, owner, 'transfer', data)
}
