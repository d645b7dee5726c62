import type { OfferState, TemplateState } from '../../handlers/assets/index.ts'
import type { AuctionState, BundleState } from '../../handlers/market/index.ts'
import type { LinkState } from '../../handlers/tools/index.ts'

/** A row of the contract's `templates`; the scope is the collection. */
export interface TemplateValue extends TemplateState {
  immutable_serialized_data: Uint8Array
}

/** A row of the contract's `templates2`, the mutable data of a template; the scope is the collection. */
export interface TemplateDataValue {
  template_id: number
  schema_name: string
  mutable_serialized_data: Uint8Array
}

/** A row of the contract's `assets`; the scope is the owner. */
export interface AssetValue {
  asset_id: bigint
  collection_name: string
  schema_name: string
  /** Negative without template. */
  template_id: number
  ram_payer: string
  backed_tokens: readonly string[]
  immutable_serialized_data: Uint8Array
  mutable_serialized_data: Uint8Array
}

/** A row of the contract's `offers`. */
export interface OfferValue extends OfferState {
  sender: string
  recipient: string
  memo: string
}

/** Fields that the rows of all kinds of listings have. */
export interface ListingValue {
  collection_name: string
  collection_fee: number
  maker_marketplace: string
}

/** A row of the contract's `sales`. */
export interface SaleValue extends ListingValue, BundleState {
  sale_id: bigint
  seller: string
  listing_price: string
  settlement_symbol: string
  /** Negative before the seller has made the offer. */
  offer_id: bigint
}

/** A row of the contract's `auctions`. */
export interface AuctionValue extends ListingValue, AuctionState {
  seller: string
  assets_transferred: boolean
  /** The starting price without a bid. */
  current_bid: string
  /** Empty without a bid. */
  current_bidder: string
  taker_marketplace: string
}

/** A row of the contract's `buyoffers`. */
export interface BuyofferValue extends ListingValue, BundleState {
  buyoffer_id: bigint
  buyer: string
  recipient: string
  price: string
  memo: string
}

/** A row of the contract's `tbuyoffers`. */
export interface TemplateBuyofferValue extends ListingValue {
  buyoffer_id: bigint
  buyer: string
  price: string
  template_id: number | bigint
}

/** A row of the contract's `links`. */
export interface LinkValue extends LinkState {
  assets_transferred: boolean
}
