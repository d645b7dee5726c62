export { burnerPage, countOwners, ownerPage } from './account-list.ts'
export { assetFilters, NOT_OFFERED } from './asset-filters.ts'
export { assetList, countAssets } from './asset-list.ts'
export { ASSETS, assetsOfTemplates, assetsWithoutValue, SCHEMAS } from './asset-source.ts'
export { boundaryFilters } from './boundary-filters.ts'
export { nameFilter } from './collection-filters.ts'
export { collectionList } from './collection-list.ts'
export {
  authorizedBy,
  collectionLists,
  containsText,
  hasCollectionLists,
  isNoneOf,
  isOneOf,
  isText,
  oneOf,
  oneOfIds,
} from './conditions.ts'
export { resolveTemplates, TEMPLATE_DATA } from './resolve-templates.ts'
export type { ResolvedTemplates } from './resolve-templates.ts'
export { createListReader } from './list-reader.ts'
export { offerList } from './offer-list.ts'
export { keyAtTime } from './key-at-time.ts'
export { MAX_SCHEMA_PAIRS, OF_ANY_SCHEMA, schemaKey } from './schema-keys.ts'
export { schemaList, schemaRecordKeys } from './schema-list.ts'
export { templateList } from './template-list.ts'
export { transferList } from './transfer-list.ts'
export { templateConditions } from './template-filters.ts'
export { templateScope } from './template-scope.ts'
export type { TemplateScope } from './template-scope.ts'
export type { AssetRequest } from './asset-filters.ts'
export { chosenActions, logList, selectLogs } from './log-list.ts'
export type { LogSubject } from './log-list.ts'
