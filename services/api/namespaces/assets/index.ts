import type { Namespace } from '../../endpoint/index.ts'
import { createListReader } from './lists/index.ts'
import { assetsEndpoints } from './endpoints/index.ts'
import { assetsRecords } from './live-records.ts'
import { assetRecord, Parts, renderAssets } from './records/index.ts'
import type { AssetsLimits, AssetsSetup } from './setup.ts'

export {
  assetListParameters,
  assetsEndpoints,
  countTwin,
  renderPage,
  renderUnchanged,
} from './endpoints/index.ts'
export {
  assetConditions,
  chosenActions,
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
  assetsOf,
  assetRecord,
  assetRenderer,
  COLLECTION_VERSION,
  containedAssets,
  distinctIds,
  jsonMembers,
  jsonText,
  packRows,
  PartCache,
  Parts,
  queryPacked,
  quoted,
  renderAssets,
  renderCollections,
  renderTemplates,
  TEMPLATE_VERSION,
  collectionRecord,
  lightCollection,
  lightSchema,
  lightTemplate,
  logRecord,
  templateRecord,
} from './records/index.ts'
export type { AssetKey, LoggedActions, Part, PartKind, RecordRenderer } from './records/index.ts'
export { assetList, createListReader, templateScope } from './lists/index.ts'
export type { AssetRequest } from './lists/index.ts'
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
  const parts = new Parts()
  const lists = createListReader()
  const setup: AssetsSetup = { ...options, parts, lists, view: { render: renderAssets, record: assetRecord } }
  return {
    name: 'assets',
    endpoints: assetsEndpoints(setup),
    records: assetsRecords(setup),
    forget() {
      parts.clear()
      lists.clear()
    },
  }
}
