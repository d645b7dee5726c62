export { nameValue, nameText } from './names.ts'
export { assetsAccount, firstAssetId } from './rows.ts'
export type { OfferRow, ConfigRow, TableRows, AssetRow, TemplateRow } from './rows.ts'
export { sha256, packAction } from './action.ts'
export type { ActionInput, ActionTrace, PackedAction } from './action.ts'
export { findListing, isSecondMarket } from './market-shared.ts'
export { marketAccount, oracleAccount, toolsAccount } from './market-rows.ts'
export type { AuctionRow, DatapointRow, MarketConfigRow, SaleRow, LinkRow } from './market-rows.ts'
export { collectionActions } from './assets-collections.ts'
export { marketActions } from './market.ts'
export { oracleActions } from './oracle.ts'
export { ownershipActions } from './assets-ownership.ts'
export { secondTokenAccount, tokenAccount, tokenActions, symbolCodeValue } from './token.ts'
export {
  systemAccount,
  systemActions,
  newAccountAction,
  setAbiAction,
  setCodeAction,
  developmentAuthority,
} from './system.ts'
export type { AccountWatcher } from './system.ts'
export { toolsActions } from './tools.ts'
export { ActionContext } from './context.ts'
export type { Fields } from './context.ts'
export { Runtime } from './runtime.ts'
export type { ActionHandler, ContractRegistry } from './runtime.ts'
export type { AssetOwners } from './assets-shared.ts'
export { deployedAbi, deployedCode } from './deployed-abis.ts'
export type { DeployedContract } from './deployed-abis.ts'
export { attributeMap } from './attributes.ts'
export type { Attributes, FormatField } from './attributes.ts'
export { AbiBook } from './abis.ts'
