import type { DatabaseAddress } from '../../core/database/index.ts'
import type { RunMode } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { SendMessage } from '../feed/index.ts'
import type { ContractEntry } from '../handlers/index.ts'
import type { NodeSettings, ShipTiming } from '../ship/index.ts'
import type { ReaderStatus } from './heartbeat.ts'
import type { ReaderObserver } from './observer.ts'

/** Dependencies of a reader. `settings` has the names of readers.config.json. */
export interface ReaderOptions {
  readonly settings: ReaderSettings
  readonly database: DatabaseAddress
  readonly chain: {
    readonly chainId: string
    readonly http: string | null
    readonly ship: readonly (string | NodeSettings)[]
  }
  readonly logger: Logger
  /** Called about once a second, and whenever the state of the reader changes. */
  readonly onStatus?: (status: ReaderStatus) => void
  /**
   * Run mode, for the remedies in the log; default `process`. With `standalone` a person watches the status, and the
   * status shows that reading is interrupted. Therefore an interruption of reading is logged as info, not as a warning.
   */
  readonly mode?: RunMode
  /** Called for each commit, each rollback, each interruption of reading and each published feed entry. */
  readonly observer?: ReaderObserver
  /** Sends live events to other processes. Without this function the other processes read events from the database. */
  readonly send?: SendMessage
  readonly shipTiming?: Partial<ShipTiming>
  /** Delays between attempts after a transient error; for tests. */
  readonly retry?: Partial<RetryTiming>
  /** Stall time-out, see `STALLED_AFTER_MS`; for tests. */
  readonly stalledAfterMs?: number
  /** Time to wait for the lease of a reader that may be dead; for tests. */
  readonly handoverMs?: number
  /** First wait before a failed index build is retried; for tests. */
  readonly indexRetryMs?: number
  /** False skips the indexes that only queries need; for tests and measurements. */
  readonly buildQueryIndexes?: boolean
  /** How fast history is sealed; for tests. */
  readonly sealing?: Partial<SealingPace>
  /** Families whose derived rows are not written; for measurements. */
  readonly withoutDerived?: readonly string[]
}

/** How fast history is sealed. */
export interface SealingPace {
  /** Number of blocks that one seal covers. */
  readonly rangeBlocks: number
  /** Maximum share of the time that sealing may use, 0 to 1. */
  readonly share: number
  /** Pause after all irreversible blocks have been sealed, ms. */
  readonly idleMs: number
}

/** Timing of retries after a transient error. */
export interface RetryTiming {
  /** Number of consecutive attempts to read the chain, all without a commit, after which the reader stops. */
  readonly attempts: number
  /** Wait after the first failed attempt to read the chain; doubles with each further failed attempt. */
  readonly firstMs: number
  readonly longestMs: number
}

/** Settings of readers.config.json that a reader uses. */
export interface ReaderSettings {
  readonly name: string
  readonly start_block: number
  readonly start_block_override?: boolean
  readonly stop_block: number
  readonly irreversible_only: boolean
  readonly ship_prefetch_blocks: number
  readonly ship_min_block_confirmation: number
  readonly ship_check_roots: boolean
  readonly ship_check_history_roots?: boolean
  /** Limit of a message's size, bytes. Default 256 MiB. */
  readonly ship_max_message_bytes?: number
  readonly db_group_blocks: number
  readonly feed_blocks: number
  readonly feed_max_behind: number
  /** Whether irreversible history is sealed; default false. */
  readonly seal_history?: boolean
  readonly delete_data: boolean
  readonly contracts: readonly ContractEntry[]
}
