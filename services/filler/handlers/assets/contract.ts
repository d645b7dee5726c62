import type { WantedFields } from '../handler.ts'

/** Attribute map as an action carries it; the names of the pair's members depend on the compiler. */
export type AttributeMap = readonly (
  { key: string; value: [string, unknown] } | { first: string; second: [string, unknown] }
)[]

/** Decoded `logmint`. */
export interface LogMint {
  asset_id: bigint
  authorized_minter: string
  collection_name: string
  schema_name: string
  template_id: number
  new_asset_owner: string
  immutable_data: AttributeMap
  mutable_data: AttributeMap
}

/** Decoded `logtransfer`. */
export interface LogTransfer {
  collection_name: string
  from: string
  to: string
  asset_ids: readonly bigint[]
  memo: string
}

/** Decoded `logburnasset`. */
export interface LogBurn {
  asset_owner: string
  asset_id: bigint
  collection_name: string
  schema_name: string
  template_id: number
  backed_tokens: readonly string[]
}

/** Decoded `logsetdata`. */
export interface LogSetData {
  asset_id: bigint
  new_data: AttributeMap
}

/** Decoded `logbackasset`. */
export interface LogBackAsset {
  asset_id: bigint
  backed_token: string
}

/** Decoded `logrampayer`. */
export interface LogRamPayer {
  asset_owner: string
  asset_id: bigint
  old_ram_payer: string
  new_ram_payer: string
}

/** Decoded `lognewtempl`. */
export interface LogNewTemplate {
  template_id: number
  authorized_creator: string
  collection_name: string
  schema_name: string
  transferable: boolean
  burnable: boolean
  max_supply: number
  immutable_data: AttributeMap
}

/** Decoded `logsetdatatl`. */
export interface LogSetTemplateData {
  collection_name: string
  schema_name: string
  template_id: number
  new_data: AttributeMap
}

/** Decoded `lognewoffer`. */
export interface LogNewOffer {
  offer_id: bigint
  sender: string
  recipient: string
  sender_asset_ids: readonly bigint[]
  recipient_asset_ids: readonly bigint[]
  memo: string
}

/** A row of the contract's `offers`. */
export interface OfferState {
  offer_id: bigint
  sender_asset_ids: readonly bigint[]
  recipient_asset_ids: readonly bigint[]
  ram_payer: string
}

/** A row of the contract's `config`. */
export interface ConfigState {
  asset_counter: bigint
  template_counter: number
  offer_counter: bigint
  collection_format: readonly FormatField[]
  supported_tokens: readonly { sym: string; contract: string }[]
}

/** A field of a format list. */
export interface FormatField {
  name: string
  type: string
}

/** A row of the contract's `collections`. */
export interface CollectionState {
  collection_name: string
  author: string
  allow_notify: boolean
  authorized_accounts: readonly string[]
  notify_accounts: readonly string[]
  market_fee: number
  serialized_data: Uint8Array
}

/** A row of the contract's `templates`. */
export interface TemplateState {
  template_id: number
  schema_name: string
  transferable: boolean
  burnable: boolean
  max_supply: number
  issued_supply: number
}

/** A row of the contract's `authorswaps`. */
export interface AuthorSwapState {
  collection_name: string
  current_author: string
  new_author: string
  acceptance_date: number
}

/** Actions that the handler reads, and which of their fields. The rest of the actions only changes tables. */
export const wantedActions: Readonly<Record<string, WantedFields>> = {
  logmint: [
    'asset_id',
    'authorized_minter',
    'collection_name',
    'schema_name',
    'template_id',
    'new_asset_owner',
    'immutable_data',
    'mutable_data',
  ],
  logtransfer: null,
  logburnasset: ['asset_owner', 'asset_id', 'collection_name', 'schema_name', 'template_id', 'backed_tokens'],
  logsetdata: ['asset_id', 'new_data'],
  logbackasset: ['asset_id', 'backed_token'],
  logrampayer: null,
  lognewtempl: null,
  logsetdatatl: ['collection_name', 'schema_name', 'template_id', 'new_data'],
  lognewoffer: null,
  acceptoffer: null,
  declineoffer: null,
  canceloffer: null,
  createcol: null,
  setcoldata: null,
  addcolauth: null,
  remcolauth: null,
  addnotifyacc: null,
  remnotifyacc: null,
  forbidnotify: null,
  setmarketfee: null,
  createauswap: null,
  acceptauswap: null,
  rejectauswap: null,
  createschema: null,
  extendschema: null,
  setschematyp: null,
  locktemplate: null,
  deltemplate: null,
  redtemplmax: null,
}

/** Contract tables that the handler reads, and which of their fields. */
export const wantedRows: Readonly<Record<string, WantedFields>> = {
  config: null,
  tokenconfigs: null,
  balances: null,
  collections: null,
  authorswaps: null,
  schemas: null,
  schematypes: null,
  templates: ['template_id', 'schema_name', 'transferable', 'burnable', 'max_supply', 'issued_supply'],
  assets: ['ram_payer'],
  offers: ['offer_id', 'sender_asset_ids', 'recipient_asset_ids', 'ram_payer'],
}

/** Codes of logged actions; the same as in the table assets.log_actions. */
export const logCodes = {
  logmint: 1,
  logburnasset: 2,
  logbackasset: 3,
  logsetdata: 4,
  logrampayer: 5,
  lognewoffer: 10,
  acceptoffer: 11,
  declineoffer: 12,
  canceloffer: 13,
  createcol: 20,
  setcoldata: 21,
  addcolauth: 22,
  remcolauth: 23,
  addnotifyacc: 24,
  remnotifyacc: 25,
  forbidnotify: 26,
  setmarketfee: 27,
  createauswap: 28,
  acceptauswap: 29,
  rejectauswap: 30,
  createschema: 40,
  extendschema: 41,
  setschematyp: 42,
  lognewtempl: 50,
  locktemplate: 51,
  deltemplate: 52,
  redtemplmax: 53,
  logsetdatatl: 54,
} as const satisfies Record<string, number>
