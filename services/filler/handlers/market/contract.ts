import { logCodesOf, logged, struct } from '../declaration.ts'
import type { ActionOf, Named, RowOf } from '../handler.ts'

/** Decoded data of the action `lognewsale`. */
export interface LogNewSale {
  sale_id: bigint
  seller: string
  asset_ids: readonly bigint[]
  listing_price: string
  settlement_symbol: string
  maker_marketplace: string
  collection_name: string
  collection_fee: number
}

/** Decoded data of the action `lognewauct`. */
export interface LogNewAuction {
  auction_id: bigint
  seller: string
  asset_ids: readonly bigint[]
  starting_bid: string
  end_time: number
  maker_marketplace: string
  collection_name: string
  collection_fee: number
}

/** Decoded data of the action `lognewbuyo`. */
export interface LogNewBuyoffer {
  buyoffer_id: bigint
  buyer: string
  recipient: string
  price: string
  asset_ids: readonly bigint[]
  memo: string
  maker_marketplace: string
  collection_name: string
  collection_fee: number
}

/** Decoded data of the action `lognewtbuyo`. */
export interface LogNewTemplateBuyoffer {
  buyoffer_id: bigint
  buyer: string
  price: string
  template_id: bigint
  maker_marketplace: string
  collection_name: string
  collection_fee: number
}

/** Common fields of all actions on a sale. */
export interface SaleAction {
  sale_id: bigint
}

/** Common fields of all actions on an auction. */
export interface AuctionAction {
  auction_id: bigint
}

/** Common fields of all actions on a buy offer or template buy offer. */
export interface BuyofferAction {
  buyoffer_id: bigint
}

/** Decoded data of the action `logsalestart`. */
export interface LogSaleStart extends SaleAction {
  offer_id: bigint
}

/** Decoded data of the action `purchasesale`. */
export interface PurchaseSale {
  buyer: string
  sale_id: bigint
  intended_delphi_median: bigint
  taker_marketplace: string
}

/** Decoded data of the action `auctionbid`. */
export interface AuctionBid {
  bidder: string
  auction_id: bigint
  bid: string
  taker_marketplace: string
}

/** Decoded data of the action `declinebuyo`. */
export interface DeclineBuyoffer extends BuyofferAction {
  decline_memo: string
}

/** Decoded data of the action `acceptbuyo`. */
export interface AcceptBuyoffer {
  buyoffer_id: bigint
  taker_marketplace: string
}

/** Decoded data of the action `fulfilltbuyo`. */
export interface FulfillTemplateBuyoffer {
  seller: string
  buyoffer_id: bigint
  asset_id: bigint
  taker_marketplace: string
}

/** Decoded data of the actions `logroyfound`, `logroytempl` or `logroyattr`. */
export interface LogRoyalty {
  collection_name: string
  asset_id: bigint
  template_id?: number
  rule_id?: bigint
  payouts: readonly { recipient: string; amount: string }[]
}

/** Decoded data of the action `logroydust`. */
export interface LogRoyaltyDust {
  collection_name: string
  collection_author: string
  amount: string
}

export interface ConfigState {
  version: string
  sale_counter: bigint
  auction_counter: bigint
  minimum_bid_increase: number
  minimum_auction_duration: number
  maximum_auction_duration: number
  auction_reset_duration: number
  supported_tokens: readonly { token_contract: string; token_symbol: string }[]
  supported_symbol_pairs: readonly {
    listing_symbol: string
    settlement_symbol: string
    delphi_pair_name: string
    invert_delphi_pair: boolean
  }[]
  maker_market_fee: number
  taker_market_fee: number
  atomicassets_account: string
  delphioracle_account: string
}

export interface CounterState {
  counter_name: string
  counter_value: bigint
}

export interface MarketplaceState {
  marketplace_name: string
  creator: string
}

export interface BalanceState {
  owner: string
  quantities: readonly string[]
}

export interface BonusFeeState {
  bonusfee_id: bigint
  fee_recipient: string
  fee: number
  counter_ranges: readonly { counter_name: string; start_id: bigint; end_id: bigint }[]
  fee_name: string
}

/** The decoded fields of a row of the contract tables `sales` and `buyoffers`. */
export interface BundleState {
  asset_ids: readonly bigint[]
}

/** The decoded fields of a row of the contract table `auctions`. */
export interface AuctionState extends BundleState {
  auction_id: bigint
  end_time: number
  claimed_by_seller: boolean
  claimed_by_buyer: boolean
}

/** Recipients of a royalty with their weights. */
export type RoyaltyShares = readonly { recipient: string; weight: number }[]

/** A row of the contract table `royaltyconf`. */
export interface RoyaltyConfigState {
  collection: string
  founders: RoyaltyShares
  attribute_mode: number
  split_founders: number
  split_templates: number
  split_attributes: number
}

/** A row of the contract table `royaltytemp`; the scope is the collection. */
export interface RoyaltyTemplateState {
  template_id: number
  recipients: RoyaltyShares
}

/** A row of the contract table `royaltyattr`; the scope is the collection. */
export interface RoyaltyAttributeState {
  index: bigint
  source: number
  field: string
  value: readonly [string, unknown]
  weight: number
  recipients: RoyaltyShares
  lookup_hash: string
}

/**
 * Actions that the handler reads, with the fields to decode and the codes of logged actions in market.log_actions. The
 * handler sees the effects of all other actions in the contract rows.
 */
export const actions = {
  lognewsale: logged(1, struct<LogNewSale>()),
  logsalestart: logged(2, struct<LogSaleStart>()),
  cancelsale: logged(3, struct<SaleAction>()),
  purchasesale: logged(4, struct<PurchaseSale>().withWide('intended_delphi_median')),
  lognewauct: logged(
    20,
    struct<LogNewAuction>().only(
      'auction_id',
      'seller',
      'asset_ids',
      'starting_bid',
      'end_time',
      'maker_marketplace',
      'collection_name',
      'collection_fee',
    ),
  ),
  logauctstart: logged(21, struct<AuctionAction>()),
  cancelauct: logged(22, struct<AuctionAction>()),
  auctionbid: struct<AuctionBid>(),
  auctclaimbuy: logged(23, struct<AuctionAction>()),
  auctclaimsel: logged(24, struct<AuctionAction>()),
  lognewbuyo: logged(40, struct<LogNewBuyoffer>()),
  cancelbuyo: logged(41, struct<BuyofferAction>()),
  declinebuyo: logged(42, struct<DeclineBuyoffer>()),
  acceptbuyo: logged(43, struct<AcceptBuyoffer>().only('buyoffer_id', 'taker_marketplace')),
  lognewtbuyo: logged(60, struct<LogNewTemplateBuyoffer>()),
  canceltbuyo: logged(61, struct<BuyofferAction>()),
  fulfilltbuyo: logged(
    62,
    struct<FulfillTemplateBuyoffer>().only('seller', 'buyoffer_id', 'asset_id', 'taker_marketplace'),
  ),
  logroyfound: struct<LogRoyalty>(),
  logroytempl: struct<LogRoyalty>(),
  logroyattr: struct<LogRoyalty>(),
  logroydust: struct<LogRoyaltyDust>(),
  setdefmktcr: logged(80, struct<Readonly<Record<string, unknown>>>().withWide()),
  migratebal: logged(81, struct<Readonly<Record<string, unknown>>>().withWide()),
}

/** Contract tables that the handler reads, with the fields to decode. */
export const rows = {
  config: struct<ConfigState>(),
  counters: struct<CounterState>().withWide('counter_value'),
  marketplaces: struct<MarketplaceState>(),
  balances: struct<BalanceState>(),
  bonusfees: struct<BonusFeeState>(),
  sales: struct<BundleState>().only('asset_ids'),
  auctions: struct<AuctionState>().only(
    'auction_id',
    'asset_ids',
    'end_time',
    'claimed_by_seller',
    'claimed_by_buyer',
  ),
  buyoffers: struct<BundleState>().only('asset_ids'),
  royaltyconf: struct<RoyaltyConfigState>(),
  royaltytemp: struct<RoyaltyTemplateState>(),
  royaltyattr: struct<RoyaltyAttributeState>(),
}

/** Log code of each logged action. */
export const logCodes = logCodesOf(actions)

/**
 * Log codes of the royalty actions of a sale. The codes of an auction are greater by 20, of a buy offer by 40, and of a
 * template buy offer by 60.
 */
export const royaltyLogCodes = { logroyfound: 10, logroytempl: 11, logroyattr: 12, logroydust: 13 } as const

export type MarketAction = ActionOf<typeof actions>
export type SaleEvent = Extract<MarketAction, { data: SaleAction }>
export type AuctionEvent = Extract<MarketAction, { data: AuctionAction }>
export type TemplateBuyofferEvent = Named<MarketAction, 'lognewtbuyo' | 'canceltbuyo' | 'fulfilltbuyo'>
export type BuyofferEvent = Exclude<Extract<MarketAction, { data: BuyofferAction }>, TemplateBuyofferEvent>
export type RoyaltyEvent = Named<MarketAction, keyof typeof royaltyLogCodes>
export type MarketRowEvent = RowOf<typeof rows>
