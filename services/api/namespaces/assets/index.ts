import type { Namespace } from '../../endpoint/index.ts'
import { createListReader } from './lists/list-reader.ts'
import type { Fragments } from '../../records/index.ts'
import { assetsEndpoints } from './endpoints/endpoints.ts'
import { assetsRecords } from './live-records.ts'
import { assetRecord } from './records/asset-schemas.ts'
import { assetsRecordKinds } from './records/kinds.ts'
import type { AssetsLimits, AssetsSetup } from './setup.ts'
export type { AssetsLimits, AssetsSetup } from './setup.ts'
export { assetAssembler } from './records/asset-records.ts'
export type { RecordSource, AssetExtension } from './records/asset-records.ts'
export { assetsRecordKinds } from './records/kinds.ts'
export { createListReader } from './lists/list-reader.ts'
export { liveRecord } from './live-records.ts'
export { ofAccount, ofCollection, assetListParameters, collectionSearch } from './parameters.ts'
export type { AssetValues } from './parameters.ts'
export { assetsEndpoints } from './endpoints/endpoints.ts'
export { listJson, oneJson, runCount, runList, countEndpointOf, pageJson } from './endpoints/list.ts'
export type { ListOfRecords } from './endpoints/list.ts'
export { logRecord } from './records/log-schemas.ts'
export type { LoggedActions } from './records/log-schemas.ts'
export { assetFilters } from './lists/asset-filters.ts'
export type { AssetRequest } from './lists/asset-filters.ts'
export { ASSETS, SCHEMAS, assetsOfTemplates, assetsWithoutValue } from './lists/asset-source.ts'
export {
  isOneOf,
  isNoneOf,
  containsText,
  collectionLists,
  hasCollectionLists,
  isText,
  oneOf,
  oneOfIds,
} from './lists/conditions.ts'
export { MAX_SCHEMA_PAIRS, schemaKey } from './lists/schema-keys.ts'
export { TEMPLATE_DATA, resolveTemplates } from './lists/resolve-templates.ts'
export type { ResolvedTemplates } from './lists/resolve-templates.ts'
export { templateConditions } from './lists/template-filters.ts'
export { chosenActions, logList } from './lists/log-list.ts'
export { boundaryFilters } from './lists/boundary-filters.ts'
export { keyAtTime } from './lists/key-at-time.ts'
export { assetList } from './lists/asset-list.ts'
export { templateScope } from './lists/template-scope.ts'
export { readPairs, collectionVersionsOf, templateVersionsOf } from './records/asset-rows.ts'
export { assetArray, containedKeys } from './records/trade-records.ts'
export {
  collectionFragment,
  collectionObject,
  templateFragment,
  COLLECTION_VERSION,
} from './records/shared-rows.ts'
export { templateObject } from './records/asset-json.ts'
export { assetRecord } from './records/asset-schemas.ts'
export { containedAssets } from './records/trade-schemas.ts'
export { lightCollection, lightTemplate, collectionRecord, templateRecord } from './records/entity-schemas.ts'
export { nameFilter } from './lists/collection-filters.ts'

/** Options of the assets namespace. */
export interface AssetsNamespaceOptions {
  /** Contract account. */
  readonly contract: string
  readonly limits: AssetsLimits
  /** Fragments of the rows that its records share. */
  readonly shared: Fragments
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
}

/** The assets namespace: collections, schemas, templates, assets, accounts, offers, transfers. */
export function createAssetsNamespace(options: AssetsNamespaceOptions): Namespace {
  const { shared } = options
  const lists = createListReader()
  const records = assetsRecordKinds(options)
  const setup: AssetsSetup = { ...options, lists, records, assetSchema: assetRecord }
  return {
    name: 'assets',
    endpoints: assetsEndpoints(setup),
    records: assetsRecords(setup),
    forget() {
      shared.clear()
      lists.clear()
    },
  }
}
