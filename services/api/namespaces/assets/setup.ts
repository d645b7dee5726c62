import type { PageLimits } from '../page-limits.ts'
import type { ListReader } from '../../planner/index.ts'
import type { AssetsRecords } from './records/kinds.ts'
import type { RecordSettings } from '../../records/index.ts'
import type { Fragments } from '../../records/fragments/index.ts'

/** Shared state of the endpoints of a mounted namespace. */
export interface AssetsSetup {
  /** Contract account of the assets; an account name, so it needs no escaping in JSON. */
  readonly contract: string
  readonly shared: Fragments
  readonly settings: RecordSettings
  readonly limits: PageLimits
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
  readonly lists: ListReader
  readonly records: AssetsRecords
}
