import type { Namespace } from '../../endpoint/index.ts'
import { assetsEndpoints } from './endpoints/index.ts'
import { assetRecord, createParts, renderAssets } from './records/index.ts'
import type { AssetsLimits, AssetsSetup } from './setup.ts'

export {
  assetRecord,
  collectionRecord,
  lightCollection,
  lightSchema,
  lightTemplate,
  logRecord,
  templateRecord,
} from './records/index.ts'
export type { LoggedActions } from './records/index.ts'
export type { AssetsLimits } from './setup.ts'

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
  const parts = createParts()
  const setup: AssetsSetup = { ...options, parts, view: { render: renderAssets, record: assetRecord } }
  return {
    name: 'assets',
    endpoints: assetsEndpoints(setup),
    forget() {
      for (const kind of ['lightCollections', 'collectionRecords', 'schemas', 'templates'] as const) {
        parts[kind].clear()
      }
    },
  }
}
