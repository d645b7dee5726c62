import type { FormatField } from './attributes.ts'
import type {
  AuctionRow,
  BonusFeeRow,
  BuyofferRow,
  CounterRow,
  DatapointRow,
  LinkRow,
  MarketBalanceRow,
  MarketplaceRow,
  PairRow,
  RoyaltyAttributeRow,
  RoyaltyConfigRow,
  RoyaltyTemplateRow,
  SaleRow,
  TemplateBuyofferRow,
} from './market-rows.ts'

/** Usual account of the assets contract. */
export const ASSETS_ACCOUNT = 'atomicassets'

/** First asset id of the contract, 2^40. */
export const FIRST_ASSET_ID = 1n << 40n

/** Row of the contract table `config`, the singleton of the assets contract. */
export interface ConfigRow {
  readonly asset_counter: bigint
  readonly template_counter: number
  readonly offer_counter: bigint
  readonly collection_format: readonly FormatField[]
  readonly supported_tokens: readonly unknown[]
}

/** Row of the contract table `collections`. */
export interface CollectionRow {
  readonly collection_name: string
  readonly author: string
  readonly allow_notify: boolean
  readonly authorized_accounts: readonly string[]
  readonly notify_accounts: readonly string[]
  readonly market_fee: number
  readonly serialized_data: Uint8Array
}

/** Row of the contract table `schemas`, scope = collection. */
export interface SchemaRow {
  readonly schema_name: string
  readonly format: readonly FormatField[]
}

/** Row of the contract table `templates`, scope = collection. */
export interface TemplateRow {
  readonly template_id: number
  readonly schema_name: string
  readonly transferable: boolean
  readonly burnable: boolean
  /** Maximum number of assets of the template; 0 = unlimited. */
  readonly max_supply: number
  readonly issued_supply: number
  readonly immutable_serialized_data: Uint8Array
}

/** Row of the contract table `templates2` (contract version 2), scope = collection. */
export interface Template2Row {
  readonly template_id: number
  readonly schema_name: string
  readonly mutable_serialized_data: Uint8Array
}

/** Row of the contract table `assets`, scope = owner. */
export interface AssetRow {
  readonly asset_id: bigint
  readonly collection_name: string
  readonly schema_name: string
  /** Template id; -1 = no template. */
  readonly template_id: number
  readonly ram_payer: string
  readonly backed_tokens: readonly string[]
  readonly immutable_serialized_data: Uint8Array
  readonly mutable_serialized_data: Uint8Array
}

/** Row of the contract table `offers`. */
export interface OfferRow {
  readonly offer_id: bigint
  readonly sender: string
  readonly recipient: string
  readonly sender_asset_ids: readonly bigint[]
  readonly recipient_asset_ids: readonly bigint[]
  readonly memo: string
  readonly ram_payer: string
}

/** Row of the contract table `accounts` of a token contract, scope = owner. */
export interface BalanceRow {
  readonly balance: string
}

/** Row types by table, for the tables that the contracts of this devchain use. */
export interface TableRows {
  readonly config: ConfigRow
  readonly collections: CollectionRow
  readonly schemas: SchemaRow
  readonly templates: TemplateRow
  readonly templates2: Template2Row
  readonly assets: AssetRow
  readonly offers: OfferRow
  readonly accounts: BalanceRow
  readonly sales: SaleRow
  readonly auctions: AuctionRow
  readonly buyoffers: BuyofferRow
  readonly tbuyoffers: TemplateBuyofferRow
  readonly marketplaces: MarketplaceRow
  readonly counters: CounterRow
  readonly bonusfees: BonusFeeRow
  readonly balances: MarketBalanceRow
  readonly royaltyconf: RoyaltyConfigRow
  readonly royaltytemp: RoyaltyTemplateRow
  readonly royaltyattr: RoyaltyAttributeRow
  readonly pairs: PairRow
  readonly datapoints: DatapointRow
  readonly links: LinkRow
}
