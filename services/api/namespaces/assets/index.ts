import type { Namespace } from '../../endpoint/index.ts'
import { createListReader } from '../nft/endpoints/index.ts'
import type { Fragments } from '../../records/index.ts'
import { assetsEndpoints } from './endpoints/endpoints.ts'
import { assetsRecords } from './live-records.ts'
import { assetRecord } from '../nft/record-schemas/index.ts'
import { assetsRecordKinds } from './records/kinds.ts'
import type { AssetsLimits, AssetsSetup } from './setup.ts'

export type { AssetsLimits, AssetsSetup } from './setup.ts'
export { assetsRecordKinds } from './records/kinds.ts'
export { assetsEndpoints } from './endpoints/endpoints.ts'

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
