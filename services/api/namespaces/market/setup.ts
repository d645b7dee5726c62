import type { PageLimits } from '../page-limits.ts'
import type { ListReader } from '../../planner/index.ts'
import type { AssetsSetup } from '../assets/index.ts'
import type { MarketRecords } from './records/kinds.ts'

/** Dependencies that the endpoints of a market namespace share. */
export interface MarketSetup {
  /** Account of the market contract; an account name, so it needs no escaping in JSON. */
  readonly contract: string
  readonly limits: PageLimits
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
  /** Setting `disable_v1_sales`: whether `/v1/sales` has the page limit and the default states of `/v2/sales`. */
  readonly disableV1Sales: boolean
  /**
   * Setup of the endpoints of assets that the market serves. `contract` is empty until the stored settings of the
   * market contract name the assets contract.
   */
  readonly assets: AssetsSetup
  readonly lists: ListReader
  readonly records: MarketRecords
  /** Returns the current time, ms since 1970. An auction whose end time has passed has ended. */
  readonly clock: () => number
}
