import type { DatabaseAddress } from '../../core/database/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { SendMessage } from '../feed/index.ts'
import type { ContractEntry } from '../handlers/index.ts'
import type { NodeSettings, ShipTiming } from '../ship/index.ts'
import type { ReaderStatus } from './heartbeat.ts'
import type { ReaderObserver } from './observer.ts'

/** Dependencies of a reader; the names of `settings` are those of readers.config.json. */
export interface ReaderOptions {
  readonly settings: ReaderSettings
  readonly database: DatabaseAddress
  readonly chain: {
    readonly chainId: string
    readonly http: string | null
    readonly ship: readonly (string | NodeSettings)[]
  }
  readonly logger: Logger
  /** Called about once a second and after each change of state. */
  readonly onStatus?: (status: ReaderStatus) => void
  /** A person sees each status, which names what interrupts reading: no warning repeats it. */
  readonly isWatched?: boolean
  /** Called for each commit, rollback and interruption. */
  readonly observer?: ReaderObserver
  /** Sends live events to the other processes. Without it they read the database. */
  readonly send?: SendMessage
  readonly shipTiming?: Partial<ShipTiming>
  /** How often and how soon to try again; for tests. */
  readonly retry?: Partial<RetryTiming>
  /** Time without a commit after which a reader that has something to do is stalled; for tests. */
  readonly stalledAfterMs?: number
  /** Time to wait for a lease whose holder may be gone; for tests. */
  readonly handoverMs?: number
  /** Wait before a failed build of these indexes is tried again; for tests. */
  readonly indexRetryMs?: number
  /** False leaves the indexes that only queries need unbuilt; for tests and measurements. */
  readonly buildQueryIndexes?: boolean
  /** Families from whose rows nothing is derived; for measurements. */
  readonly withoutDerived?: readonly string[]
}

/** How a reader tries again after an error that may pass. */
export interface RetryTiming {
  /** Consecutive attempts without a commit before the reader stops. */
  readonly attempts: number
  /** Wait after the first; doubles with each further one. */
  readonly firstMs: number
  readonly longestMs: number
}

/** The settings of readers.config.json that steer a reader. */
export interface ReaderSettings {
  readonly name: string
  readonly start_block: number
  readonly start_block_override?: boolean
  readonly stop_block: number
  readonly irreversible_only: boolean
  readonly ship_prefetch_blocks: number
  readonly ship_min_block_confirmation: number
  readonly ship_check_roots: boolean
  /** Default 256 MiB. */
  readonly ship_max_message_bytes?: number
  readonly db_group_blocks: number
  readonly feed_blocks: number
  readonly feed_max_behind: number
  readonly delete_data: boolean
  readonly contracts: readonly ContractEntry[]
}
