import type { PageLimits } from '../page-limits.ts'
import type { ListReader } from '../../planner/index.ts'
import type { AssetsRecords } from './records/kinds.ts'
import type { RecordSettings } from '../../records/index.ts'
import type { Fragments } from '../../records/fragments/index.ts'

/** Dependencies that the endpoints of an assets namespace share. */
export interface AssetsSetup {
  /** Account of the assets contract; an account name, so it needs no escaping in JSON. */
  readonly contract: string
  readonly shared: Fragments
  readonly settings: RecordSettings
  readonly limits: PageLimits
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
  readonly lists: ListReader
  readonly records: AssetsRecords
}
