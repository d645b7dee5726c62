import type { Namespace } from '../../endpoint/index.ts'
import { createListReader } from './lists/index.ts'
import type { Fragments } from '../../records/index.ts'
import { assetsEndpoints } from './endpoints/index.ts'
import { assetsRecords } from './live-records.ts'
import { assetRecord, assetsRecordKinds } from './records/index.ts'
import type { AssetsLimits, AssetsSetup } from './setup.ts'

export {
  assetsEndpoints,
  countEndpointOf,
  listJson,
  oneJson,
  pageJson,
  runCount,
  runList,
} from './endpoints/index.ts'
export { assetListParameters, collectionSearch, ofAccount, ofCollection } from './parameters.ts'
export type { AssetValues } from './parameters.ts'
export type { ListOfRecords } from './endpoints/index.ts'
export {
  assetArray,
  assetAssembler,
  assetRecord,
  assetsRecordKinds,
  collectionFragment,
  collectionObject,
  COLLECTION_VERSION,
  collectionVersionsOf,
  containedAssets,
  containedKeys,
  historyMember,
  jsonMembers,
  jsonText,
  quoted,
  readPairs,
  templateFragment,
  templateObject,
  templateVersionsOf,
  collectionRecord,
  lightCollection,
  lightTemplate,
  logRecord,
  templateRecord,
} from './records/index.ts'
export {
  assetFilters,
  assetList,
  ASSETS,
  SCHEMAS,
  boundaryFilters,
  chosenActions,
  collectionLists,
  containsText,
  createListReader,
  isNoneOf,
  isOneOf,
  keyAtTime,
  logList,
  nameFilter,
  oneOf,
  oneOfIds,
  isText,
  hasCollectionLists,
  resolveTemplates,
  TEMPLATE_DATA,
  MAX_SCHEMA_PAIRS,
  schemaKey,
  templateConditions,
  assetsOfTemplates,
  assetsWithoutValue,
  templateScope,
} from './lists/index.ts'
export type { AssetRequest, ResolvedTemplates } from './lists/index.ts'
export type { AssetExtension, AssetRow, AssetsRecords, LoggedActions, RecordSource } from './records/index.ts'
export { liveRecord } from './live-records.ts'
export type { AssetsLimits, AssetsSetup } from './setup.ts'

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
