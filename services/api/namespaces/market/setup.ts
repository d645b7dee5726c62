import type { PageLimits } from '../page-limits.ts'
import type { ListReader } from '../../planner/index.ts'
import type { AssetsSetup } from '../assets/index.ts'
import type { MarketRecords } from './records/kinds.ts'

/** Shared state of the endpoints of a mounted namespace. */
export interface MarketSetup {
  /** Market contract account; an account name, so it needs no escaping in JSON. */
  readonly contract: string
  readonly limits: PageLimits
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
  /** `disable_v1_sales`: `/v1/sales` takes the largest page of `/v2/sales`. */
  readonly disableV1Sales: boolean
  /** Setup of the market's asset endpoints. Its contract is known after `contracts` was read. */
  readonly assets: AssetsSetup
  readonly lists: ListReader
  readonly records: MarketRecords
  /** Milliseconds since 1970; decides whether an auction has ended. */
  readonly clock: () => number
}
