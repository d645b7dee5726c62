import type { ListReader } from '../../planner/index.ts'
import type { AssetsRecords } from './records/kinds.ts'
import type { RecordSettings } from '../../records/index.ts'
import type { Fragments } from '../../records/fragments/index.ts'

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
export interface AssetsSetup {
  /** Contract account of the assets; an account name, so it needs no escaping in JSON. */
  readonly contract: string
  readonly shared: Fragments
  readonly settings: RecordSettings
  readonly limits: AssetsLimits
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
  readonly lists: ListReader
  readonly records: AssetsRecords
}
