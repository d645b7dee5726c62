/** Usual account of the market contract. */
export const MARKET_ACCOUNT = 'atomicmarket'

/** Usual account of the price oracle. */
export const ORACLE_ACCOUNT = 'delphioracle'

/** Usual account of the tools contract. */
export const TOOLS_ACCOUNT = 'atomictoolsx'

/** Row of the contract table `config`, the singleton of the market contract. */
export interface MarketConfigRow {
  readonly version: string
  readonly sale_counter: bigint
  readonly auction_counter: bigint
  readonly minimum_bid_increase: number
  /** Minimum duration of an auction, seconds. */
  readonly minimum_auction_duration: number
  readonly maximum_auction_duration: number
  readonly auction_reset_duration: number
  readonly supported_tokens: readonly { readonly token_contract: string; readonly token_symbol: string }[]
  readonly supported_symbol_pairs: readonly SymbolPair[]
  readonly maker_market_fee: number
  readonly taker_market_fee: number
  readonly atomicassets_account: string
  readonly delphioracle_account: string
}

/** A listing symbol that is settled in another symbol, at the price of an oracle pair. */
export interface SymbolPair {
  readonly listing_symbol: string
  readonly settlement_symbol: string
  readonly delphi_pair_name: string
  readonly invert_delphi_pair: boolean
}

/** Fields that all listing types share. */
export interface ListingTerms {
  readonly maker_marketplace: string
  readonly collection_name: string
  /** Market fee of the collection when the listing was created. */
  readonly collection_fee: number
}

/** Row of the contract table `sales`. */
export interface SaleRow extends ListingTerms {
  readonly sale_id: bigint
  readonly seller: string
  readonly asset_ids: readonly bigint[]
  /** Id of the offer; -1 = no offer yet. */
  readonly offer_id: bigint
  readonly listing_price: string
  readonly settlement_symbol: string
}

/** Row of the contract table `auctions`. */
export interface AuctionRow extends ListingTerms {
  readonly auction_id: bigint
  readonly seller: string
  readonly asset_ids: readonly bigint[]
  /** End of the auction, epoch seconds. */
  readonly end_time: number
  readonly assets_transferred: boolean
  readonly current_bid: string
  /** Account of the highest bidder; empty = no bid. */
  readonly current_bidder: string
  readonly claimed_by_seller: boolean
  readonly claimed_by_buyer: boolean
  readonly taker_marketplace: string
}

/** Row of the contract table `buyoffers`. */
export interface BuyofferRow extends ListingTerms {
  readonly buyoffer_id: bigint
  readonly buyer: string
  readonly recipient: string
  readonly price: string
  readonly asset_ids: readonly bigint[]
  readonly memo: string
}

/** Row of the contract table `tbuyoffers`; its ids have a counter of their own. */
export interface TemplateBuyofferRow extends ListingTerms {
  readonly buyoffer_id: bigint
  readonly buyer: string
  readonly price: string
  readonly template_id: bigint
}

/** Row of the contract table `marketplaces`; the default marketplace has the empty name. */
export interface MarketplaceRow {
  readonly marketplace_name: string
  readonly creator: string
}

/** Row of the contract table `counters`: the next id of a listing type. */
export interface CounterRow {
  readonly counter_name: string
  readonly counter_value: bigint
}

/** Row of the contract table `bonusfees`. */
export interface BonusFeeRow {
  readonly bonusfee_id: bigint
  readonly fee_recipient: string
  readonly fee: number
  readonly counter_ranges: readonly CounterRange[]
  readonly fee_name: string
}

/** Ids from `start_id` up to, but not including, `end_id`, which is 2^64-1 while the fee is active. */
export interface CounterRange {
  readonly counter_name: string
  readonly start_id: bigint
  readonly end_id: bigint
}

/** Row of the contract table `balances`. */
export interface MarketBalanceRow {
  readonly owner: string
  readonly quantities: readonly string[]
}

/** An account and its share of a royalty. */
export interface RoyaltyPair {
  readonly recipient: string
  readonly weight: number
}

/** Row of the contract table `royaltyconf` (contract version 2). */
export interface RoyaltyConfigRow {
  readonly collection: string
  readonly founders: readonly RoyaltyPair[]
  readonly attribute_mode: number
  readonly split_founders: number
  readonly split_templates: number
  readonly split_attributes: number
}

/** Row of the contract table `royaltytemp` (contract version 2), scope = collection. */
export interface RoyaltyTemplateRow {
  readonly template_id: number
  readonly recipients: readonly RoyaltyPair[]
}

/** Row of the contract table `royaltyattr` (contract version 2), scope = collection. */
export interface RoyaltyAttributeRow {
  /** Id of the royalty rule; ids are never reused. */
  readonly index: bigint
  readonly source: number
  readonly field: string
  readonly value: readonly [string, unknown]
  readonly weight: number
  readonly recipients: readonly RoyaltyPair[]
  /** sha256 over source, field and value of the royalty rule, hexadecimal. */
  readonly lookup_hash: string
}

/** Row of the contract table `pairs` of the price oracle. */
export interface PairRow {
  readonly active: boolean
  readonly bounty_awarded: boolean
  readonly bounty_edited_by_custodians: boolean
  readonly proposer: string
  readonly name: string
  readonly bounty_amount: string
  readonly approving_custodians: readonly string[]
  readonly approving_oracles: readonly string[]
  readonly base_symbol: string
  readonly base_type: number
  readonly base_contract: string
  readonly quote_symbol: string
  readonly quote_type: number
  readonly quote_contract: string
  /** Number of decimals of `value` and `median`. */
  readonly quoted_precision: bigint
}

/** Row of the contract table `datapoints` of the price oracle, scope = pair. */
export interface DatapointRow {
  readonly id: bigint
  readonly owner: string
  readonly value: bigint
  readonly median: bigint
  /** ISO text with a precision of microseconds or less. */
  readonly timestamp: string
}

/** Row of the contract table `links` of the tools contract. */
export interface LinkRow {
  readonly link_id: bigint
  readonly creator: string
  readonly key: string
  readonly asset_ids: readonly bigint[]
  readonly assets_transferred: boolean
  readonly memo: string
}

/** Row of the contract table `config`, the singleton of the tools contract. */
export interface ToolsConfigRow {
  readonly version: string
  readonly link_counter: bigint
  readonly atomicassets_account: string
}
