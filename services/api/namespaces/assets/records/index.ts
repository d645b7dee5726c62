export { assetRenderer, renderAssets } from './asset-records.ts'
export type { AssetKey, MoreMembers, RecordRenderer } from './asset-records.ts'
export { renderCollections, renderSchemas, renderTemplates } from './entity-records.ts'
export { renderAccountDetail, renderBurnDetail } from './holding-records.ts'
export type { Holding, Holdings, TemplateHolding } from './holding-records.ts'
export { jsonMembers, jsonText, quoted } from './json-sql.ts'
export { renderLog } from './log-records.ts'
export { packRows, queryPacked } from './packed-rows.ts'
export { PartCache } from './part-cache.ts'
export type { Part, PartKind } from './part-cache.ts'
export { COLLECTION_VERSION, Parts, TEMPLATE_VERSION } from './parts.ts'
export type { MakeRecords } from './unchanged-records.ts'
export { assetArray, assetsOf, distinctIds, offerRenderer, transferRenderer } from './trade-records.ts'
export { assetRecord } from './asset-schemas.ts'
export {
  bareSchema,
  collectionRecord,
  lightCollection,
  lightSchema,
  lightTemplate,
  schemaRecord,
  templateRecord,
} from './entity-schemas.ts'
export { accountCollectionRecord, accountCount, accountDetail, burnDetail } from './holding-schemas.ts'
export {
  assetActions,
  collectionActions,
  logRecord,
  offerActions,
  schemaActions,
  templateActions,
} from './log-schemas.ts'
export type { LoggedActions } from './log-schemas.ts'
export {
  assetStatsRecord,
  collectionSchemaRecord,
  collectionStatsRecord,
  schemaStatsRecord,
  templateStatsRecord,
} from './stats-schemas.ts'
export { containedAssets, offerRecord, transferRecord } from './trade-schemas.ts'
