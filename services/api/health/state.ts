import type { StoreState } from '../../core/kvstore/index.ts'
import type { ChainInfo } from '../../core/chain-node/index.ts'
import type { ServerState } from '../database/index.ts'
import type { LiveFeedState } from '../live/index.ts'

/** A contract that a reader indexes. */
export interface IndexedContract {
  /** assets, market, oracle or tools. */
  readonly family: string
  readonly account: string
}

/** State of one reader, as it reports it in the database. */
export interface ReaderState {
  readonly name: string
  /** First block that it indexed. */
  readonly startBlock: number
  /** The contracts whose rows it writes. */
  readonly contracts: readonly IndexedContract[]
  /** Last committed block. */
  readonly blockNum: number
  /** Its time, ms since 1970. */
  readonly blockTimeMs: number
  /** Chain head as the reader sees it; undefined before its first heartbeat. */
  readonly headBlock: number | undefined
  /** Its time, when the reader itself has received it. */
  readonly headTimeMs: number | undefined
  readonly irreversibleBlock: number | undefined
  /** connecting, catching-up, live or stopped. */
  readonly mode: string | undefined
  readonly blocksPerSecond: number | undefined
  /** Age of the last heartbeat and commit when they were read. */
  readonly secondsSinceHeartbeat: number | undefined
  readonly secondsSinceCommit: number | undefined
  /** Time since the chain node sent a complete message, and since it sent a block. */
  readonly secondsSinceMessage: number | undefined
  readonly secondsSinceBlock: number | undefined
  /** Blocks below the last committed one that were left out: first and last of each gap. */
  readonly gaps: readonly (readonly [first: number, last: number])[]
  /** First block whose history is whole; null when it is whole from the first indexed block on. */
  readonly historySince: number | null
  /** Rows that an imported database lacked, as its operator accepted. */
  readonly acceptedGaps: readonly string[]
  /** The problem that stops the reader, as reported by it. */
  readonly problem: string | undefined
  /** The chain nodes that it reads from; empty before its first heartbeat. */
  readonly nodes: readonly ChainNodeState[]
}

/** A chain node in the words of a reader, without its address. */
export interface ChainNodeState {
  /** connecting, watched, reading, followed or failed. */
  readonly state: string
  /** Newest head that it reported, and its lag behind the newest of all nodes; null before the first. */
  readonly head_block: number | null
  readonly blocks_behind: number | null
  readonly bytes_per_second: number
  /** Times that it was lost, left or refused. */
  readonly faults: number
}

/** Everything that health is judged by. */
export interface HealthState {
  /** The primary. */
  readonly database: 'up' | 'unavailable'
  /** The primary and its replicas, as requests see them. */
  readonly servers: readonly ServerState[]
  readonly kvstore: StoreState
  readonly kvstoreKind: 'redis' | 'memory'
  readonly readers: readonly ReaderState[]
  /** State of the readers' feeds, for live data. */
  readonly feeds: readonly LiveFeedState[]
  /** Last answer of the chain node; undefined before the first. */
  readonly node: ChainInfo | undefined
  readonly chainId: string
}
