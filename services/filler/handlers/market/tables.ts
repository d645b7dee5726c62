import { appendTable, counterTable, groupedTable, keyedTable } from '../../rows/table.ts'
import type { BlockRow } from '../block-transactions.ts'

/** JSON text of a `jsonb` column. */
export type JsonText = string

/** Kinds of listing, as the database numbers them. */
export const kinds = { sale: 1, auction: 2, buyoffer: 3, templateBuyoffer: 4 } as const

/** Row of market.config. */
export interface ConfigRow {
  contract: string
  version: string
  v2_since_block: number | null
  assets_contract: string
  oracle_contract: string
  sale_counter: bigint
  auction_counter: bigint
  minimum_bid_increase: number
  minimum_auction_duration: number
  maximum_auction_duration: number
  auction_reset_duration: number
  maker_market_fee: number
  taker_market_fee: number
}

/** Row of market.counters. */
export interface CounterRow {
  counter_name: string
  counter_value: bigint
}

/** Row of market.tokens. */
export interface TokenRow {
  token_symbol: string
  place: number
  token_precision: number
  token_contract: string
}

/** Row of market.symbol_pairs. */
export interface SymbolPairRow {
  listing_symbol: string
  settlement_symbol: string
  place: number
  listing_precision: number
  settlement_precision: number
  pair_name: string
  invert_pair: boolean
}

/** Row of market.marketplaces. */
export interface MarketplaceRow {
  marketplace_name: string
  created_at_time: number
  created_at_block: number
  creator: string
}

/** Row of market.balances. */
export interface BalanceRow {
  owner: string
  token_symbol: string
  amount: bigint
  updated_at_time: number
  updated_at_block: number
}

/** Row of market.bonus_fees. */
export interface BonusFeeRow {
  bonusfee_id: bigint
  created_at_time: number
  created_at_block: number
  fee: number
  fee_recipient: string
  fee_name: string
}

/** Row of market.bonus_fee_ranges. */
export interface BonusFeeRangeRow {
  bonusfee_id: bigint
  counter_name: string
  start_id: bigint
  end_id: bigint | null
}

/** Columns of a listing that describe its assets; completed when the row is written. */
export interface ListedAssets {
  template_id: number | null
  min_mint: number | null
  max_mint: number | null
  asset_count: number
  schema_name: string | null
  name: string | null
  asset_names: string | null
  asset_ids: readonly bigint[]
  /** Null for a single asset, whose template is `template_id`; so are the schemas. */
  template_ids: readonly bigint[] | null
  schema_names: readonly string[] | null
  traits: readonly bigint[]
}

/** What all listings have. */
interface Listing {
  created_at_time: number
  updated_at_time: number
  created_at_block: number
  updated_at_block: number
  collection_fee: number
  state: number
  buyer: string | null
  collection_name: string
  maker_marketplace: string
  taker_marketplace: string | null
}

/** Row of market.sales. */
export interface SaleRow extends Listing, ListedAssets {
  sale_id: bigint
  seller: string
  listing_price: bigint
  price: bigint | null
  offer_id: bigint | null
  intended_median: bigint | null
  listing_precision: number
  settlement_precision: number
  listing_symbol: string
  settlement_symbol: string
}

/** Row of market.auctions. */
export interface AuctionRow extends Listing, ListedAssets {
  auction_id: bigint
  seller: string
  end_time: number
  /** Null when the first bid came before the reader's history. */
  starting_price: bigint | null
  price: bigint
  token_symbol: string
  claimed_by_seller: boolean
  claimed_by_buyer: boolean
}

/** Row of market.bids. */
export interface BidRow {
  seq: bigint
  auction_id: bigint
  amount: bigint
  account: string
}

/** Row of market.buyoffers. */
export interface BuyofferRow extends Listing, ListedAssets {
  buyoffer_id: bigint
  seller: string
  price: bigint
  token_symbol: string
  memo: string
  decline_memo: string | null
}

/** Row of market.template_buyoffers. */
export interface TemplateBuyofferRow extends Listing {
  buyoffer_id: bigint
  seller: string | null
  price: bigint
  token_symbol: string
  template_id: number
  asset_id: bigint | null
  mint: number | null
  schema_name: string | null
  name: string | null
  traits: readonly bigint[]
}

/** Row of market.listing_assets. */
export interface ListingAssetRow {
  asset_id: bigint
  kind: number
  listing_id: bigint
}

/** Row of market.listing_counts. */
export interface ListingCountRow {
  kind: number
  state: number
  collection_name: string
  listings: bigint
}

/** Row of market.trades. */
export interface TradeRow {
  kind: number
  listing_id: bigint
  trade_time: bigint
  price: bigint
  asset_id: bigint | null
  template_id: number | null
  template_mint: number | null
  asset_count: number
  token_symbol: string
  seller: string
  buyer: string
  maker_marketplace: string
  taker_marketplace: string
  collection_name: string
  schema_name: string | null
  asset_burned: boolean | null
}

/** Number of trades and sum of their prices. */
interface TradeVolume {
  trades: bigint
  volume: bigint
}

/** Sums over trades. */
interface TradeSums extends TradeVolume {
  sales: bigint
  sale_volume: bigint
}

/** Sums over what an account sold and bought. */
interface PartySums {
  sells: bigint
  sell_volume: bigint
  buys: bigint
  buy_volume: bigint
}

/** Row of market.trade_days. */
export interface TradeDayRow extends TradeSums {
  token_symbol: string
  day: number
  collection_name: string
  maker_marketplace: string
  taker_marketplace: string
}

/** Row of market.marketplace_days. */
export interface MarketplaceDayRow extends TradeVolume {
  token_symbol: string
  day: number
  maker_marketplace: string
  taker_marketplace: string
}

/** Row of market.collection_days. */
export interface CollectionDayRow extends TradeVolume {
  token_symbol: string
  collection_name: string
  day: number
}

/** Row of market.collection_stats. */
export interface CollectionStatsRow extends TradeSums {
  token_symbol: string
  collection_name: string
}

/** Row of market.schema_stats. */
export interface SchemaStatsRow extends TradeSums {
  token_symbol: string
  collection_name: string
  schema_name: string
  listings: bigint
}

/** Row of market.schema_days. */
export interface SchemaDayRow extends SchemaStatsRow {
  day: number
}

/** Row of market.account_stats. */
export interface AccountStatsRow extends PartySums {
  token_symbol: string
  account: string
}

/** Row of market.party_stats. */
export interface PartyStatsRow extends PartySums {
  token_symbol: string
  marketplace: string
  account: string
  collection_name: string
}

/** Row of market.marketplace_accounts. */
export interface MarketplaceAccountRow {
  token_symbol: string
  marketplace: string
  account: string
  sells: bigint
  /** Decimal text, like the other volume: as the derivation's statement returns them. */
  sell_volume: string
  buys: bigint
  buy_volume: string
  first_sold: bigint | null
  last_sold: bigint | null
  first_bought: bigint | null
  last_bought: bigint | null
}

/** Row of market.marketplace_stats. */
export interface MarketplaceStatsRow {
  token_symbol: string
  marketplace: string
  sellers: bigint
  sell_volume: bigint
  buyers: bigint
  buy_volume: bigint
}

/** Row of market.price_days; numbers as the derivation's statement returns them. */
export interface PriceDayRow {
  token_symbol: string
  day: number
  trades: bigint
  volume: string
  median: bigint
}

/** Row of market.template_points. */
export interface TemplatePointRow {
  template_id: number
  token_symbol: string
  price: bigint
  trades: bigint
}

/** Row of market.template_prices; numbers as the derivation's statement returns them. */
export interface TemplatePriceRow {
  template_id: number
  token_symbol: string
  trades: bigint
  volume: string
  median: bigint
  average: bigint
  min: bigint
  max: bigint
  recent_median: bigint
  recent_average: bigint
  floor_price: bigint | null
  suggested_median: bigint
  suggested_average: bigint
  collection_name: string
  oracle_floors: JsonText | null
}

/** When a row was first and last set. */
interface Dated {
  created_at_time: number
  updated_at_time: number
  created_at_block: number
  updated_at_block: number
}

/** Row of market.royalty_configs. */
export interface RoyaltyConfigRow extends Dated {
  collection_name: string
  split_founders: number
  split_templates: number
  split_attributes: number
  attribute_mode: number
  founders: JsonText
}

/** Row of market.royalty_templates. */
export interface RoyaltyTemplateRow extends Dated {
  collection_name: string
  template_id: number
  recipients: JsonText
}

/** Row of market.royalty_attributes. */
export interface RoyaltyAttributeRow extends Dated {
  collection_name: string
  rule_id: bigint
  weight: number
  source: number
  field: string
  value: JsonText
  recipients: JsonText
  lookup_hash: Uint8Array
}

/** Row of market.royalty_payouts. */
export interface RoyaltyPayoutRow {
  seq: bigint
  payout_index: number
  category: number
  kind: number
  template_id: number | null
  listing_id: bigint | null
  asset_id: bigint | null
  rule_id: bigint | null
  amount: bigint
  paid_at_time: number
  token_symbol: string
  collection_name: string
  recipient: string
}

/** Row of market.logs. */
export interface LogRow {
  seq: bigint
  subject: bigint
  action: number
  data: JsonText | null
}

const volume = ['trades', 'volume'] as const
const sums = [...volume, 'sales', 'sale_volume'] as const
const partySums = ['sells', 'sell_volume', 'buys', 'buy_volume'] as const
const created = ['created_at_time', 'created_at_block'] as const

/** The tables of the market family. */
export const tables = {
  config: keyedTable<ConfigRow>('market.config', ['contract']),
  counters: keyedTable<CounterRow>('market.counters', ['counter_name']),
  tokens: keyedTable<TokenRow>('market.tokens', ['token_symbol']),
  symbolPairs: keyedTable<SymbolPairRow>('market.symbol_pairs', ['listing_symbol', 'settlement_symbol']),
  marketplaces: keyedTable<MarketplaceRow>('market.marketplaces', ['marketplace_name'], created),
  balances: groupedTable<BalanceRow>('market.balances', ['owner'], ['owner', 'token_symbol']),
  bonusFees: keyedTable<BonusFeeRow>('market.bonus_fees', ['bonusfee_id'], created),
  bonusFeeRanges: groupedTable<BonusFeeRangeRow>(
    'market.bonus_fee_ranges',
    ['bonusfee_id'],
    ['bonusfee_id', 'counter_name'],
  ),
  sales: keyedTable<SaleRow>('market.sales', ['sale_id']),
  auctions: keyedTable<AuctionRow>('market.auctions', ['auction_id']),
  buyoffers: keyedTable<BuyofferRow>('market.buyoffers', ['buyoffer_id']),
  templateBuyoffers: keyedTable<TemplateBuyofferRow>('market.template_buyoffers', ['buyoffer_id']),
  listingAssets: keyedTable<ListingAssetRow>('market.listing_assets', ['asset_id', 'kind', 'listing_id']),
  listingCounts: counterTable<ListingCountRow>(
    'market.listing_counts',
    ['kind', 'state', 'collection_name'],
    ['listings'],
  ),
  trades: keyedTable<TradeRow>('market.trades', ['kind', 'listing_id']),
  tradeDays: counterTable<TradeDayRow>(
    'market.trade_days',
    ['token_symbol', 'day', 'collection_name', 'maker_marketplace', 'taker_marketplace'],
    sums,
  ),
  marketplaceDays: counterTable<MarketplaceDayRow>(
    'market.marketplace_days',
    ['token_symbol', 'day', 'maker_marketplace', 'taker_marketplace'],
    volume,
  ),
  collectionDays: counterTable<CollectionDayRow>(
    'market.collection_days',
    ['token_symbol', 'collection_name', 'day'],
    volume,
  ),
  collectionStats: counterTable<CollectionStatsRow>(
    'market.collection_stats',
    ['token_symbol', 'collection_name'],
    sums,
  ),
  schemaStats: counterTable<SchemaStatsRow>(
    'market.schema_stats',
    ['token_symbol', 'collection_name', 'schema_name'],
    [...sums, 'listings'],
  ),
  schemaDays: counterTable<SchemaDayRow>(
    'market.schema_days',
    ['token_symbol', 'collection_name', 'schema_name', 'day'],
    [...sums, 'listings'],
  ),
  accountStats: counterTable<AccountStatsRow>('market.account_stats', ['token_symbol', 'account'], partySums),
  partyStats: counterTable<PartyStatsRow>(
    'market.party_stats',
    ['token_symbol', 'marketplace', 'account', 'collection_name'],
    partySums,
  ),
  marketplaceAccounts: keyedTable<MarketplaceAccountRow>('market.marketplace_accounts', [
    'token_symbol',
    'marketplace',
    'account',
  ]),
  marketplaceStats: counterTable<MarketplaceStatsRow>(
    'market.marketplace_stats',
    ['token_symbol', 'marketplace'],
    ['sellers', 'sell_volume', 'buyers', 'buy_volume'],
  ),
  priceDays: keyedTable<PriceDayRow>('market.price_days', ['token_symbol', 'day']),
  templatePoints: counterTable<TemplatePointRow>(
    'market.template_points',
    ['template_id', 'token_symbol', 'price'],
    ['trades'],
  ),
  templatePrices: keyedTable<TemplatePriceRow>('market.template_prices', ['template_id', 'token_symbol']),
  royaltyConfigs: keyedTable<RoyaltyConfigRow>('market.royalty_configs', ['collection_name'], created),
  royaltyTemplates: keyedTable<RoyaltyTemplateRow>(
    'market.royalty_templates',
    ['collection_name', 'template_id'],
    created,
  ),
  royaltyAttributes: keyedTable<RoyaltyAttributeRow>(
    'market.royalty_attributes',
    ['collection_name', 'rule_id'],
    created,
  ),
  bids: appendTable<BidRow>('market.bids', 'seq'),
  royaltyPayouts: appendTable<RoyaltyPayoutRow>('market.royalty_payouts', 'seq'),
  blocks: appendTable<BlockRow>('market.blocks', 'first_seq'),
  logs: appendTable<LogRow>('market.logs', 'seq'),
} as const
