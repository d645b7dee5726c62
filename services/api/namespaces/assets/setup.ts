import type { NamedSchema } from '../../endpoint/index.ts'
import type { ListReader } from '../../planner/index.ts'
import type { AssetsRecords } from './records/kinds.ts'
import type { RecordSource } from '../nft/records/index.ts'

/** Largest `limit` of each list, by the keys of `args.limits`. */
export interface AssetsLimits {
  readonly assets: number
  readonly accounts: number
  readonly collections: number
  readonly schemas: number
  readonly templates: number
  readonly offers: number
  readonly transfers: number
  readonly burns: number
  readonly logs: number
}

/** Shared state of the endpoints of a mounted namespace. */
export interface AssetsSetup extends RecordSource {
  readonly limits: AssetsLimits
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
  readonly lists: ListReader
  readonly records: AssetsRecords
  /** Shape of its assets: the market says more of them than the contract itself. */
  readonly assetSchema: NamedSchema
}
