import type { ActivityMix } from './activity/index.ts'
import type { ChainBlock } from './chain/index.ts'
import type { FaultPlan } from './ship/index.ts'

/** Timed production of blocks. */
export interface LiveOptions {
  /** Milliseconds between two blocks; 500 as on a real chain. */
  readonly intervalMs?: number
}

/** Options of a development chain. All have defaults. */
export interface DevchainOptions {
  /** `main`, `v2`, or folders with `frames.bin.gz` and `ship-abi.json`, in this order. Default: main, v2. */
  readonly recordings?: readonly string[]
  /**
   * `history` (default): the node holds the final branch of the recordings when a client connects.
   * `recorded`: the node replays the recordings, message by message, as fast as its clients read.
   */
  readonly replay?: 'history' | 'recorded'
  /** Blocks that are appended after the recordings when the chain is created, such as the blocks of `benchBlocks`. */
  readonly append?: Iterable<ChainBlock>
  /** Minimum number of generated blocks at the start, produced as fast as possible. Default 0. */
  readonly blocks?: number
  /** Timed production of blocks after `start`. Default false: only `produceBlock` produces blocks. */
  readonly live?: LiveOptions | false
  /** Average number of user actions per generated block. Default 4. */
  readonly rate?: number
  /** Frequency of each kind of transaction. Default: a small, lively chain. */
  readonly mix?: ActivityMix
  /** Seed: all generated content derives from this number and the block number. Default 1. */
  readonly seed?: number
  /** Probability (0 to 1) that a fork of random depth follows a produced block. Default 0. */
  readonly forks?: number
  /**
   * Epoch milliseconds of the first generated block; each further block is 500 ms later. Default: half a
   * second after the last recorded block, or the present when `live` is on.
   */
  readonly startTimeMs?: number
  /** Number of blocks between the head and the last irreversible block. Default 2. */
  readonly libLagBlocks?: number
  /** Limit of block data in memory, bytes; older irreversible blocks are dropped. Default 512 MiB. */
  readonly retainBytes?: number
  /**
   * Folder for the generated blocks, so that the chain continues after a restart (some kilobytes per block, never
   * deleted). Without it, blocks are in memory only, and a restart begins a new chain.
   */
  readonly dataFolder?: string
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string
  /** TCP port of the state-history socket; 0 (default) is any free port. */
  readonly port?: number
  /** Path of a unix socket that replaces host and port for state history. */
  readonly shipSocketPath?: string
  /** TCP port of the chain API; 0 (default) is any free port. */
  readonly httpPort?: number
  /** Faults of state-history sessions, for tests. */
  readonly faults?: FaultPlan
}
