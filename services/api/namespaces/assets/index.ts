import type { Namespace } from '../../endpoint/index.ts'
import { createListReader } from './lists/index.ts'
import { assetsEndpoints } from './endpoints/index.ts'
import { assetsRecords } from './live-records.ts'
import { assetRecord, assetsRecordKinds, SharedRows } from './records/index.ts'
import type { AssetsLimits, AssetsSetup } from './setup.ts'

export {
  assetListParameters,
  assetsEndpoints,
  countTwin,
  listJson,
  oneJson,
  pageJson,
  runCount,
  runList,
} from './endpoints/index.ts'
export type { ListOfRecords } from './endpoints/index.ts'
export {
  assetConditions,
  collectionLists,
  contains,
  KnownTexts,
  NEVER,
  noneOf,
  oneOf,
  ownDataConditions,
  resembles,
  resolvedTemplateCondition,
  resolveTemplates,
  templateDataConditions,
} from './queries/index.ts'
export type { ResolvedTemplates } from './queries/index.ts'
export {
  assetArray,
  assetAssembler,
  assetRecord,
  assetsRecordKinds,
  collectionObject,
  COLLECTION_VERSION,
  collectionVersionsOf,
  containedAssets,
  containedKeys,
  jsonMembers,
  jsonText,
  packRows,
  queryPacked,
  quoted,
  readPairs,
  SharedRows,
  templateObject,
  templateVersionsOf,
  collectionRecord,
  lightCollection,
  lightSchema,
  lightTemplate,
  logRecord,
  templateRecord,
} from './records/index.ts'
export {
  assetList,
  boundaryFilters,
  chosenActions,
  createListReader,
  logList,
  nameFilter,
  nothing,
  templateScope,
} from './lists/index.ts'
export type { AssetRequest } from './lists/index.ts'
export type {
  AssetExtension,
  AssetRow,
  AssetsRecords,
  LoggedActions,
  RecordSource,
  SharedName,
} from './records/index.ts'
export { liveRecord } from './live-records.ts'
export type { AssetsLimits, AssetsSetup } from './setup.ts'

/** What the assets namespace needs to know. */
export interface AssetsNamespaceOptions {
  /** Contract account. */
  readonly contract: string
  readonly limits: AssetsLimits
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
}

/** The assets namespace: collections, schemas, templates, assets, accounts, offers, transfers. */
export function createAssetsNamespace(options: AssetsNamespaceOptions): Namespace {
  const shared = new SharedRows()
  const lists = createListReader()
  const records = assetsRecordKinds({ contract: options.contract, shared })
  const setup: AssetsSetup = { ...options, shared, lists, records, assetSchema: assetRecord }
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
