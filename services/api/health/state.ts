import type { StoreState } from '../../core/kvstore/index.ts'
import type { ChainInfo } from '../../core/chain-node/index.ts'
import type { ServerState } from '../database/index.ts'
import type { LiveFeedState } from '../live/index.ts'

/** A contract that a reader indexes. */
export interface IndexedContract {
  /** Contract family: assets, market, oracle or tools. */
  readonly family: string
  readonly account: string
}

/** State of a reader, as the reader reports it in the database. */
export interface ReaderState {
  readonly name: string
  /** First block that the reader indexed. */
  readonly startBlock: number
  /** Contracts that the reader indexes. */
  readonly contracts: readonly IndexedContract[]
  /** Last committed block of the reader. */
  readonly blockNum: number
  /** Time of the last committed block of the reader, ms since 1970. */
  readonly blockTimeMs: number
  /** Head block according to the reader's heartbeat; undefined before the first heartbeat. */
  readonly headBlock: number | undefined
  /** Time of the head block; undefined if the reader has not received the block. */
  readonly headTimeMs: number | undefined
  readonly irreversibleBlock: number | undefined
  /** State of the reader: `connecting`, `catching-up`, `live` or `stopped`. */
  readonly mode: string | undefined
  readonly blocksPerSecond: number | undefined
  /** Seconds between the last heartbeat of the reader and the poll of the database. */
  readonly secondsSinceHeartbeat: number | undefined
  /** Seconds between the last commit of the reader and the poll of the database. */
  readonly secondsSinceCommit: number | undefined
  /** Seconds between the last complete message of the chain node and the poll of the database. */
  readonly secondsSinceMessage: number | undefined
  /** Seconds between the last block that the chain node sent and the poll of the database. */
  readonly secondsSinceBlock: number | undefined
  /** First and last block of each range of blocks that is missing below the last committed block. */
  readonly gaps: readonly (readonly [first: number, last: number])[]
  /** First block with complete history; null if the history is complete from the first indexed block on. */
  readonly historySince: number | null
  /**
   * Descriptions of rows that the source database lacked. The operator accepted at the import that the rows are
   * missing.
   */
  readonly acceptedGaps: readonly string[]
  /** Text of the problem that stops the reader. */
  readonly problem: string | undefined
  /** Chain nodes of the reader; empty before the first heartbeat. */
  readonly nodes: readonly ChainNodeState[]
}

/** State of a chain node according to a reader, without the node's address. */
export interface ChainNodeState {
  /**
   * State of the node's connection: `connecting`, `watched` (replies to status requests, sends no blocks), `reading`
   * (sends a range of blocks), `followed` (sends new blocks) or `failed`.
   */
  readonly state: string
  /** Newest head block that the node reported; null before the first report. */
  readonly head_block: number | null
  /** Blocks by which the node's head is behind the newest head of all nodes; null before the first report. */
  readonly blocks_behind: number | null
  readonly bytes_per_second: number
  /** Number of times that the reader lost, abandoned or refused the node. */
  readonly faults: number
}

/** A reader that has sent a heartbeat, but has not committed a block yet. */
export interface StartingReader {
  readonly name: string
  /** Text of the problem that stops the reader. */
  readonly problem: string | undefined
}

/** State of all dependencies; input of the health report. */
export interface HealthState {
  /** State of the primary database server. */
  readonly database: 'up' | 'unavailable'
  /** State of the primary and its replicas. */
  readonly servers: readonly ServerState[]
  readonly kvstore: StoreState
  readonly kvstoreKind: 'redis' | 'memory'
  /** Readers that have committed a block. */
  readonly readers: readonly ReaderState[]
  /** Readers that send heartbeats, but have not committed a block. */
  readonly starting: readonly StartingReader[]
  /** State of the subscriptions to the readers' feeds. */
  readonly feeds: readonly LiveFeedState[]
  /**
   * Cache hit ratio of the primary in the last minute, 0 to 1: pages that statements found in `shared_buffers`, divided
   * by all pages that statements used. Null if no page was used.
   */
  readonly cacheHitShare: number | null
  /** Last answer of the chain node; undefined before the first answer. */
  readonly node: ChainInfo | undefined
  readonly chainId: string
}
