import type { WantedFields } from '../handler.ts'

/** Decoded `lognewsale`. */
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

/** Decoded `lognewauct`. */
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

/** Decoded `lognewbuyo`. */
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

/** Decoded `lognewtbuyo`. */
export interface LogNewTemplateBuyoffer {
  buyoffer_id: bigint
  buyer: string
  price: string
  template_id: bigint
  maker_marketplace: string
  collection_name: string
  collection_fee: number
}

/** Decoded `purchasesale`. */
export interface PurchaseSale {
  buyer: string
  sale_id: bigint
  intended_delphi_median: bigint
  taker_marketplace: string
}

/** Decoded `auctionbid`. */
export interface AuctionBid {
  bidder: string
  auction_id: bigint
  bid: string
  taker_marketplace: string
}

/** Decoded `acceptbuyo`. */
export interface AcceptBuyoffer {
  buyoffer_id: bigint
  taker_marketplace: string
}

/** Decoded `fulfilltbuyo`. */
export interface FulfillTemplateBuyoffer {
  seller: string
  buyoffer_id: bigint
  asset_id: bigint
  taker_marketplace: string
}

/** Decoded `logroyfound`, `logroytempl` or `logroyattr`. */
export interface LogRoyalty {
  collection_name: string
  asset_id: bigint
  template_id?: number
  rule_id?: bigint
  payouts: readonly { recipient: string; amount: string }[]
}

/** Decoded `logroydust`. */
export interface LogRoyaltyDust {
  collection_name: string
  collection_author: string
  amount: string
}

/** A row of the contract's `config`. */
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

/** A row of the contract's `bonusfees`. */
export interface BonusFeeState {
  bonusfee_id: bigint
  fee_recipient: string
  fee: number
  counter_ranges: readonly { counter_name: string; start_id: bigint; end_id: bigint }[]
  fee_name: string
}

/** Fields of a row of the contract's `sales` or `buyoffers`. */
export interface BundleState {
  asset_ids: readonly bigint[]
}

/** Fields of a row of the contract's `auctions`. */
export interface AuctionState extends BundleState {
  auction_id: bigint
  end_time: number
  claimed_by_seller: boolean
  claimed_by_buyer: boolean
}

/** A share of a royalty. */
export type RoyaltyShares = readonly { recipient: string; weight: number }[]

/** A row of the contract's `royaltyconf`. */
export interface RoyaltyConfigState {
  collection: string
  founders: RoyaltyShares
  attribute_mode: number
  split_founders: number
  split_templates: number
  split_attributes: number
}

/** A row of the contract's `royaltytemp`; the scope is the collection. */
export interface RoyaltyTemplateState {
  template_id: number
  recipients: RoyaltyShares
}

/** A row of the contract's `royaltyattr`; the scope is the collection. */
export interface RoyaltyAttributeState {
  index: bigint
  source: number
  field: string
  value: readonly [string, unknown]
  weight: number
  recipients: RoyaltyShares
  lookup_hash: string
}

/** Actions that the handler reads, and which of their fields. The rest of the actions only changes tables. */
export const wantedActions: Readonly<Record<string, WantedFields>> = {
  lognewsale: null,
  logsalestart: null,
  cancelsale: null,
  purchasesale: null,
  lognewauct: [
    'auction_id',
    'seller',
    'asset_ids',
    'starting_bid',
    'end_time',
    'maker_marketplace',
    'collection_name',
    'collection_fee',
  ],
  logauctstart: null,
  cancelauct: null,
  auctionbid: null,
  auctclaimbuy: null,
  auctclaimsel: null,
  lognewbuyo: null,
  cancelbuyo: null,
  declinebuyo: null,
  acceptbuyo: ['buyoffer_id', 'taker_marketplace'],
  lognewtbuyo: null,
  canceltbuyo: null,
  fulfilltbuyo: ['seller', 'buyoffer_id', 'asset_id', 'taker_marketplace'],
  logroyfound: null,
  logroytempl: null,
  logroyattr: null,
  logroydust: null,
  setdefmktcr: null,
  migratebal: null,
}

/** Contract tables that the handler reads, and which of their fields. */
export const wantedRows: Readonly<Record<string, WantedFields>> = {
  config: null,
  counters: null,
  marketplaces: null,
  balances: null,
  bonusfees: null,
  sales: ['asset_ids'],
  auctions: ['auction_id', 'asset_ids', 'end_time', 'claimed_by_seller', 'claimed_by_buyer'],
  buyoffers: ['asset_ids'],
  royaltyconf: null,
  royaltytemp: null,
  royaltyattr: null,
}

/** Codes of logged actions; the same as in the table market.log_actions. */
export const logCodes = {
  lognewsale: 1,
  logsalestart: 2,
  cancelsale: 3,
  purchasesale: 4,
  lognewauct: 20,
  logauctstart: 21,
  cancelauct: 22,
  auctclaimbuy: 23,
  auctclaimsel: 24,
  lognewbuyo: 40,
  cancelbuyo: 41,
  declinebuyo: 42,
  acceptbuyo: 43,
  lognewtbuyo: 60,
  canceltbuyo: 61,
  fulfilltbuyo: 62,
  setdefmktcr: 80,
  migratebal: 81,
} as const satisfies Record<string, number>

/** Codes of royalty logs of sales; those of the further kinds of listing follow in steps of 20. */
export const royaltyLogCodes = { logroyfound: 10, logroytempl: 11, logroyattr: 12, logroydust: 13 } as const
