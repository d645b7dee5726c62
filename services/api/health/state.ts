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

/** State of a reader, as it reports it in the database. */
export interface ReaderState {
  readonly name: string
  /** First block that the reader indexed. */
  readonly startBlock: number
  /** Contracts that the reader indexes. */
  readonly contracts: readonly IndexedContract[]
  /** Last committed block. */
  readonly blockNum: number
  /** Time of the last committed block, ms since 1970. */
  readonly blockTimeMs: number
  /** Head block by the reader's heartbeat; undefined before the first heartbeat. */
  readonly headBlock: number | undefined
  /** Time of the head block, if the reader has received the block. */
  readonly headTimeMs: number | undefined
  readonly irreversibleBlock: number | undefined
  /** State of the reader: connecting, catching-up, live or stopped. */
  readonly mode: string | undefined
  readonly blocksPerSecond: number | undefined
  /** Seconds since the last heartbeat and the last commit, at the time of the poll. */
  readonly secondsSinceHeartbeat: number | undefined
  readonly secondsSinceCommit: number | undefined
  /** Seconds since the chain node sent a complete message, and since it sent a block. */
  readonly secondsSinceMessage: number | undefined
  readonly secondsSinceBlock: number | undefined
  /** Missing ranges of blocks below the last committed block: first and last block of each. */
  readonly gaps: readonly (readonly [first: number, last: number])[]
  /** First block with complete history; null if it is complete from the first indexed block on. */
  readonly historySince: number | null
  /** Missing rows of an imported database that the operator accepted. */
  readonly acceptedGaps: readonly string[]
  /** Problem that stops the reader, in its own words. */
  readonly problem: string | undefined
  /** Chain nodes of the reader; empty before its first heartbeat. */
  readonly nodes: readonly ChainNodeState[]
}

/** State of a chain node by a reader's report, without the node's address. */
export interface ChainNodeState {
  /** State of the node's connection: connecting, watched, reading, followed or failed. */
  readonly state: string
  /**
   * Newest head block that the node reported, and its lag behind the newest of all nodes; null before the first
   * report.
   */
  readonly head_block: number | null
  readonly blocks_behind: number | null
  readonly bytes_per_second: number
  /** How often the node was lost, abandoned or refused. */
  readonly faults: number
}

/** A reader that has not committed a block yet, by its heartbeat. */
export interface StartingReader {
  readonly name: string
  /** Problem that stops the reader, in its own words. */
  readonly problem: string | undefined
}

/** State of all dependencies; input of the health report. */
export interface HealthState {
  /** State of the primary. */
  readonly database: 'up' | 'unavailable'
  /** State of the primary and its replicas. */
  readonly servers: readonly ServerState[]
  readonly kvstore: StoreState
  readonly kvstoreKind: 'redis' | 'memory'
  /** Readers that have committed a block. */
  readonly readers: readonly ReaderState[]
  /** Readers that send heartbeats and have not committed a block. */
  readonly starting: readonly StartingReader[]
  /** State of the readers' feed subscriptions. */
  readonly feeds: readonly LiveFeedState[]
  /**
   * Share of the pages of all statements of the last minute that the primary had in `shared_buffers`, 0 to 1; null if
   * no page was used.
   */
  readonly cacheHitShare: number | null
  /** Last answer of the chain node; undefined before the first. */
  readonly node: ChainInfo | undefined
  readonly chainId: string
}
