import type { BlockRow } from '../block-transactions.ts'
import { appendTable, counterTable, groupedTable, keyedTable } from '../../rows/table.ts'

/** JSON text of a `jsonb` column. */
export type JsonText = string

/** Row of assets.config. */
export interface ConfigRow {
  contract: string
  standard: string | null
  version: string | null
  v2_since_block: number | null
  asset_counter: bigint | null
  template_counter: number | null
  offer_counter: bigint | null
  collection_format: JsonText
}

/** Row of assets.tokens. */
export interface TokenRow {
  token_symbol: string
  token_precision: number
  token_contract: string
}

/** Row of assets.balances. */
export interface BalanceRow {
  owner: string
  token_symbol: string
  amount: bigint
  updated_at_time: number
  updated_at_block: number
}

/** Row of assets.collections. */
export interface CollectionRow {
  collection_name: string
  created_at_time: number
  created_at_block: number
  market_fee: number
  allow_notify: boolean
  author: string
  authorized_accounts: readonly string[]
  notify_accounts: readonly string[]
  data: JsonText
}

/** Row of assets.author_swaps. */
export interface AuthorSwapRow {
  collection_name: string
  acceptance_date: number
  current_author: string
  new_author: string
}

/** Row of assets.schemas. */
export interface SchemaRow {
  collection_name: string
  schema_name: string
  created_at_time: number
  created_at_block: number
  format: JsonText
  types: JsonText | null
}

/** Row of assets.templates. */
export interface TemplateRow {
  template_id: number
  created_at_block: number
  created_at_time: number
  deleted_at_time: number | null
  deleted_at_block: number | null
  max_supply: number
  issued_supply: number
  transferable: boolean
  burnable: boolean
  collection_name: string
  schema_name: string
  immutable_data: JsonText
  mutable_data: JsonText | null
}

/** Row of assets.assets. */
export interface AssetRow {
  asset_id: bigint
  minted_at_time: number
  transferred_at_time: number
  updated_at_time: number
  burned_at_time: number | null
  minted_seq: bigint | null
  minted_at_block: number
  transferred_at_block: number
  updated_at_block: number
  burned_at_block: number | null
  template_id: number | null
  template_mint: number | null
  collection_name: string
  schema_name: string
  owner: string | null
  ram_payer: string | null
  /** Null when the asset was minted before the reader's history. */
  minter: string | null
  initial_receiver: string | null
  burned_by_account: string | null
  immutable_data: JsonText | null
  mutable_data: JsonText | null
}

/** Row of assets.backed_tokens. */
export interface BackedTokenRow {
  asset_id: bigint
  token_symbol: string
  amount: bigint
}

/** Row of assets.offers. */
export interface OfferRow {
  offer_id: bigint
  created_at_time: number
  updated_at_time: number
  created_at_block: number
  updated_at_block: number
  state: number
  sender: string
  recipient: string
  ram_payer: string | null
  memo: string
  sender_asset_ids: readonly bigint[]
  recipient_asset_ids: readonly bigint[]
  /** Filled in when the row is written; see offerContents. */
  collection_names: readonly string[]
}

/** Row of assets.open_offer_assets. */
export interface OpenOfferAssetRow {
  asset_id: bigint
  offer_id: bigint
}

/** Row of assets.transfers. */
export interface TransferRow {
  transfer_id: bigint
  sender: string
  recipient: string
  collection_name: string
  memo: string
  asset_ids: readonly bigint[]
}

/** Row of assets.logs. */
export interface LogRow {
  seq: bigint
  subject: bigint
  action: number
  data: JsonText | null
  packed: Uint8Array | null
}

/** Row of assets.accounts. */
export interface AccountRow {
  account: string
  assets: bigint
}

/** Row of assets.collection_counts. */
export interface CollectionCountRow {
  collection_name: string
  minted: bigint
  burned: bigint
}

/** Row of assets.schema_counts. */
export interface SchemaCountRow {
  collection_name: string
  schema_name: string
  minted: bigint
  burned: bigint
}

/** Row of assets.template_counts. */
export interface TemplateCountRow {
  template_id: number
  minted: bigint
  burned: bigint
}

/** Row of assets.burners. */
export interface BurnerRow {
  account: string
  assets: bigint
}

/** Row of assets.collection_accounts. */
export interface CollectionAccountRow {
  collection_name: string
  account: string
  assets: bigint
}

/** Row of assets.transfer_counts. */
export interface TransferCountRow {
  collection_name: string
  transfers: bigint
}

/** Row of assets.offer_counts. */
export interface OfferCountRow {
  state: number
  offers: bigint
}

/** The tables of the assets family. */
export const tables = {
  config: keyedTable<ConfigRow>('assets.config', ['contract']),
  tokens: keyedTable<TokenRow>('assets.tokens', ['token_symbol']),
  balances: groupedTable<BalanceRow>('assets.balances', ['owner'], ['owner', 'token_symbol']),
  collections: keyedTable<CollectionRow>(
    'assets.collections',
    ['collection_name'],
    ['created_at_time', 'created_at_block'],
  ),
  authorSwaps: keyedTable<AuthorSwapRow>('assets.author_swaps', ['collection_name']),
  schemas: keyedTable<SchemaRow>(
    'assets.schemas',
    ['collection_name', 'schema_name'],
    ['created_at_time', 'created_at_block', 'types'],
  ),
  templates: keyedTable<TemplateRow>('assets.templates', ['template_id']),
  assets: keyedTable<AssetRow>('assets.assets', ['asset_id']),
  backedTokens: counterTable<BackedTokenRow>(
    'assets.backed_tokens',
    ['asset_id', 'token_symbol'],
    ['amount'],
  ),
  offers: keyedTable<OfferRow>('assets.offers', ['offer_id']),
  openOfferAssets: keyedTable<OpenOfferAssetRow>('assets.open_offer_assets', ['asset_id', 'offer_id']),
  blocks: appendTable<BlockRow>('assets.blocks', 'first_seq'),
  transfers: appendTable<TransferRow>('assets.transfers', 'transfer_id'),
  logs: appendTable<LogRow>('assets.logs', 'seq'),
  accounts: counterTable<AccountRow>('assets.accounts', ['account'], ['assets']),
  collectionCounts: counterTable<CollectionCountRow>(
    'assets.collection_counts',
    ['collection_name'],
    ['minted', 'burned'],
  ),
  schemaCounts: counterTable<SchemaCountRow>(
    'assets.schema_counts',
    ['collection_name', 'schema_name'],
    ['minted', 'burned'],
  ),
  templateCounts: counterTable<TemplateCountRow>(
    'assets.template_counts',
    ['template_id'],
    ['minted', 'burned'],
  ),
  burners: counterTable<BurnerRow>('assets.burners', ['account'], ['assets']),
  collectionAccounts: counterTable<CollectionAccountRow>(
    'assets.collection_accounts',
    ['collection_name', 'account'],
    ['assets'],
  ),
  transferCounts: counterTable<TransferCountRow>(
    'assets.transfer_counts',
    ['collection_name'],
    ['transfers'],
  ),
  offerCounts: counterTable<OfferCountRow>('assets.offer_counts', ['state'], ['offers']),
} as const
