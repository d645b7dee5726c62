import { logCodesOf, logged, struct } from '../declaration.ts'
import type { ActionOf, Named, RowOf } from '../handler.ts'

/** Attribute map as actions contain it. The member names of a pair depend on the compiler of the contract. */
export type AttributeMap = readonly (
  { key: string; value: [string, unknown] } | { first: string; second: [string, unknown] }
)[]

/** Decoded data of the action `logmint`. */
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

/** Decoded data of the action `logtransfer`. */
export interface LogTransfer {
  collection_name: string
  from: string
  to: string
  asset_ids: readonly bigint[]
  memo: string
}

/** Decoded data of the action `logburnasset`. */
export interface LogBurn {
  asset_owner: string
  asset_id: bigint
  collection_name: string
  schema_name: string
  template_id: number
  backed_tokens: readonly string[]
}

/** Decoded data of the action `logsetdata`. */
export interface LogSetData {
  asset_id: bigint
  new_data: AttributeMap
}

/** Decoded data of the action `logbackasset`. */
export interface LogBackAsset {
  asset_id: bigint
  backed_token: string
}

/** Decoded data of the action `logrampayer`. */
export interface LogRamPayer {
  asset_owner: string
  asset_id: bigint
  old_ram_payer: string
  new_ram_payer: string
}

/** Decoded data of the action `lognewtempl`. */
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

/** Decoded data of the action `logsetdatatl`. */
export interface LogSetTemplateData {
  collection_name: string
  schema_name: string
  template_id: number
  new_data: AttributeMap
}

/** Decoded data of the action `lognewoffer`. */
export interface LogNewOffer {
  offer_id: bigint
  sender: string
  recipient: string
  sender_asset_ids: readonly bigint[]
  recipient_asset_ids: readonly bigint[]
  memo: string
}

/** Common fields of the actions that close an offer. */
export interface OfferAction {
  offer_id: bigint
}

/** Common fields of all actions on a collection. */
export interface CollectionAction {
  readonly collection_name: string
  readonly [field: string]: unknown
}

/** Common fields of all actions on a template. */
export interface TemplateAction extends CollectionAction {
  readonly template_id: number
}

/** Decoded data of the action `createauswap`. */
export interface CreateAuthorSwap {
  collection_name: string
  new_author: string
  owner: boolean
}

/** A row of the contract table `assets`. */
export interface AssetState {
  ram_payer: string
}

/** A row of the contract table `balances`. */
export interface BalanceState {
  owner: string
  quantities: readonly string[]
}

/** A row of the contract table `tokenconfigs`. */
export interface TokenConfigState {
  standard: string
  version: string
}

/** A row of the contract table `schemas`; the scope is the collection. */
export interface SchemaState {
  schema_name: string
  format: readonly FormatField[]
}

/** A row of the contract table `schematypes`; the scope is the collection. */
export interface SchemaTypesState {
  schema_name: string
  format_type: readonly Record<string, string>[]
}

/** A row of the contract table `offers`. */
export interface OfferState {
  offer_id: bigint
  sender_asset_ids: readonly bigint[]
  recipient_asset_ids: readonly bigint[]
  ram_payer: string
}

/** A row of the contract table `config`. */
export interface ConfigState {
  asset_counter: bigint
  template_counter: number
  offer_counter: bigint
  collection_format: readonly FormatField[]
  supported_tokens: readonly { sym: string; contract: string }[]
}

/** A field of a schema format: name and type. */
export interface FormatField {
  name: string
  type: string
}

/** A row of the contract table `collections`. */
export interface CollectionState {
  collection_name: string
  author: string
  allow_notify: boolean
  authorized_accounts: readonly string[]
  notify_accounts: readonly string[]
  market_fee: number
  serialized_data: Uint8Array
}

/** A row of the contract table `templates`. */
export interface TemplateState {
  template_id: number
  schema_name: string
  transferable: boolean
  burnable: boolean
  max_supply: number
  issued_supply: number
}

/** A row of the contract table `authorswaps`. */
export interface AuthorSwapState {
  collection_name: string
  current_author: string
  new_author: string
  acceptance_date: number
}

/**
 * Actions that the handler reads, with the fields to decode and the codes of logged actions in assets.log_actions. The
 * handler sees the effects of all other actions in the contract rows.
 */
export const actions = {
  logmint: logged(
    1,
    struct<LogMint>().only(
      'asset_id',
      'authorized_minter',
      'collection_name',
      'schema_name',
      'template_id',
      'new_asset_owner',
      'immutable_data',
      'mutable_data',
    ),
  ),
  logtransfer: struct<LogTransfer>(),
  logburnasset: logged(
    2,
    struct<LogBurn>().only(
      'asset_owner',
      'asset_id',
      'collection_name',
      'schema_name',
      'template_id',
      'backed_tokens',
    ),
  ),
  logsetdata: logged(4, struct<LogSetData>().only('asset_id', 'new_data')),
  logbackasset: logged(3, struct<LogBackAsset>().only('asset_id', 'backed_token')),
  logrampayer: logged(5, struct<LogRamPayer>()),
  lognewtempl: logged(50, struct<LogNewTemplate>()),
  logsetdatatl: logged(
    54,
    struct<LogSetTemplateData>().only('collection_name', 'schema_name', 'template_id', 'new_data'),
  ),
  lognewoffer: logged(10, struct<LogNewOffer>()),
  acceptoffer: logged(11, struct<OfferAction>()),
  declineoffer: logged(12, struct<OfferAction>()),
  canceloffer: logged(13, struct<OfferAction>()),
  createcol: logged(20, struct<CollectionAction>()),
  setcoldata: logged(21, struct<CollectionAction>()),
  addcolauth: logged(22, struct<CollectionAction>()),
  remcolauth: logged(23, struct<CollectionAction>()),
  addnotifyacc: logged(24, struct<CollectionAction>()),
  remnotifyacc: logged(25, struct<CollectionAction>()),
  forbidnotify: logged(26, struct<CollectionAction>()),
  setmarketfee: logged(27, struct<CollectionAction>()),
  createauswap: logged(28, struct<CreateAuthorSwap>()),
  acceptauswap: logged(29, struct<CollectionAction>()),
  rejectauswap: logged(30, struct<CollectionAction>()),
  createschema: logged(40, struct<CollectionAction>()),
  extendschema: logged(41, struct<CollectionAction>()),
  setschematyp: logged(42, struct<CollectionAction>()),
  locktemplate: logged(51, struct<TemplateAction>()),
  deltemplate: logged(52, struct<TemplateAction>()),
  redtemplmax: logged(53, struct<TemplateAction>()),
}

/** Contract tables that the handler reads, with the fields to decode. */
export const rows = {
  config: struct<ConfigState>(),
  tokenconfigs: struct<TokenConfigState>(),
  balances: struct<BalanceState>(),
  collections: struct<CollectionState>(),
  authorswaps: struct<AuthorSwapState>(),
  schemas: struct<SchemaState>(),
  schematypes: struct<SchemaTypesState>(),
  templates: struct<TemplateState>().only(
    'template_id',
    'schema_name',
    'transferable',
    'burnable',
    'max_supply',
    'issued_supply',
  ),
  assets: struct<AssetState>().only('ram_payer'),
  offers: struct<OfferState>().only('offer_id', 'sender_asset_ids', 'recipient_asset_ids', 'ram_payer'),
}

/** Log code of each logged action. */
export const logCodes = logCodesOf(actions)

export type AssetsAction = ActionOf<typeof actions>
export type OfferEnd = Named<AssetsAction, 'acceptoffer' | 'declineoffer' | 'canceloffer'>
export type SwapEvent = Named<AssetsAction, 'createauswap' | 'acceptauswap' | 'rejectauswap'>
export type TemplateEvent = Named<AssetsAction, 'locktemplate' | 'deltemplate' | 'redtemplmax'>
export type AssetsRowEvent = RowOf<typeof rows>
