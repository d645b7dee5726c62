import type { PageLimits } from '../page-limits.ts'
import type { Namespace } from '../../endpoint/index.ts'
import { createListReader } from '../nft/endpoints/index.ts'
import type { Fragments } from '../../records/fragments/index.ts'
import { assetsEndpoints } from './endpoints/endpoints.ts'
import { assetsRecords } from './live-records.ts'
import { assets } from '../nft/records/index.ts'
import { assetsRecordKinds } from './records/kinds.ts'
import type { AssetsSetup } from './setup.ts'

export type { AssetsSetup } from './setup.ts'
export { assetsRecordKinds } from './records/kinds.ts'
export { assetsEndpoints } from './endpoints/endpoints.ts'

export interface AssetsNamespaceOptions {
  /** Account of the assets contract. */
  readonly contract: string
  readonly limits: PageLimits
  /** Cached fragments of the rows that several records share. */
  readonly shared: Fragments
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
}

/** The assets namespace: collections, schemas, templates, assets, accounts, offers, transfers. */
export function createAssetsNamespace(options: AssetsNamespaceOptions): Namespace {
  const { shared } = options
  const lists = createListReader()
  const given = { contract: `"${options.contract}"` }
  const settings = { given }
  const records = assetsRecordKinds(shared, settings, assets)
  const setup: AssetsSetup = { ...options, lists, records, settings }
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
