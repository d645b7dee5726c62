export {
  historyMember,
  jsonMembers,
  jsonText,
  packRows,
  queryPacked,
  quoted,
} from '../../../records/index.ts'
export { assetAssembler } from './asset-records.ts'
export type { AssetExtension, RecordSource } from './asset-records.ts'
export { templateObject } from './asset-json.ts'
export { collectionVersionsOf, readPairs, templateVersionsOf } from './asset-rows.ts'
export type { AssetRow } from './asset-rows.ts'
export { accountDetailJson, burnDetailJson } from './holding-records.ts'
export type { Holding, Holdings, TemplateHolding } from './holding-records.ts'
export { assetsRecordKinds } from './kinds.ts'
export type { AssetsRecords } from './kinds.ts'
export { renderLog } from './log-records.ts'
export { collectionFragment, collectionObject, COLLECTION_VERSION, templateFragment } from './shared-rows.ts'
export { assetArray, containedKeys } from './trade-records.ts'
export { assetRecord } from './asset-schemas.ts'
export {
  collectionRecord,
  lightCollection,
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
