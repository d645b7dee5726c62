export { AbiBook } from './abis.ts'
export type { KnownAbi } from './abis.ts'
export { packAction, sha256 } from './action.ts'
export type { ActionInput, ActionReceipt, ActionTrace, PackedAction } from './action.ts'
export { collectionActions } from './assets-collections.ts'
export { ownershipActions } from './assets-ownership.ts'
export { assetsAccount, firstAssetId } from './rows.ts'
export type { AssetRow, CollectionRow, ConfigRow, OfferRow, SchemaRow, TemplateRow } from './rows.ts'
export type { AssetOwners } from './assets-shared.ts'
export { attributeMap } from './attributes.ts'
export type { Attributes, FormatField } from './attributes.ts'
export type { ActionContext, Fields } from './context.ts'
export { nameText, nameValue } from './names.ts'
export { Runtime } from './runtime.ts'
export type { ActionHandler, ContractRegistry } from './runtime.ts'
export { deployedAbi, deployedCode } from './deployed-abis.ts'
export type { DeployedContract } from './deployed-abis.ts'
export { marketActions } from './market.ts'
export { marketAccount, oracleAccount, toolsAccount } from './market-rows.ts'
export type {
  AuctionRow,
  BonusFeeRow,
  BuyofferRow,
  DatapointRow,
  LinkRow,
  MarketConfigRow,
  SaleRow,
  TemplateBuyofferRow,
} from './market-rows.ts'
export { findListing, isSecondMarket } from './market-shared.ts'
export { oracleActions } from './oracle.ts'
export type { TableRows } from './rows.ts'
export {
  developmentAuthority,
  newAccountAction,
  setAbiAction,
  setCodeAction,
  systemAccount,
  systemActions,
} from './system.ts'
export type { AccountWatcher } from './system.ts'
export { toolsActions } from './tools.ts'
export { secondTokenAccount, symbolCodeValue, tokenAccount, tokenActions } from './token.ts'
