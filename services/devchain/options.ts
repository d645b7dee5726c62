import type { ActivityMix } from './activity/index.ts'
import type { ChainBlock } from './chain/index.ts'
import type { FaultPlan } from './ship/index.ts'

/** Blocks that appear by themselves. */
export interface LiveOptions {
  /** Milliseconds between two blocks; 500 as on a real chain. */
  readonly intervalMs?: number
}

/** How a chain to try Pronghorn with is put together. Everything has a default. */
export interface DevchainOptions {
  /** `main`, `v2`, or folders with `frames.bin.gz` and `ship-abi.json`, in this order. Default: main, v2. */
  readonly recordings?: readonly string[]
  /**
   * `history` (default): the node holds the final branch of the recordings when a client connects.
   * `recorded`: the node replays them, message by message, as fast as its clients read.
   */
  readonly replay?: 'history' | 'recorded'
  /** Blocks appended after the recordings at start, created elsewhere (see `benchBlocks`). */
  readonly append?: Iterable<ChainBlock>
  /** Generated blocks that the chain has at least when it starts, produced as fast as possible. Default 0. */
  readonly blocks?: number
  /** Blocks that appear by themselves after `start`. Default false: only `produceBlock` produces them. */
  readonly live?: LiveOptions | false
  /** Actions that users push per generated block, on average. Default 4. */
  readonly rate?: number
  /** How often each kind of transaction comes; the default is a small, lively chain. */
  readonly mix?: ActivityMix
  /** Everything generated follows from this number and the block number. Default 1. */
  readonly seed?: number
  /** Chance (0 to 1) that a produced block is followed by a fork of random depth. Default 0. */
  readonly forks?: number
  /**
   * Epoch milliseconds of the first generated block; each further block is 500 ms later. Default: half a
   * second after the last recorded block, or the present when `live` is on.
   */
  readonly startTimeMs?: number
  /** Blocks by which the last irreversible block trails the head. Default 2. */
  readonly libLagBlocks?: number
  /** Bytes of block data held in memory; older irreversible blocks are dropped. Default 512 MiB. */
  readonly retainBytes?: number
  /**
   * Folder of the generated blocks, so that the chain continues after a restart (some kilobytes a block,
   * for ever). Without it they live in memory only, and a restarted chain is another chain.
   */
  readonly dataFolder?: string
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string
  /** TCP port of the state-history socket; 0 (default) takes any free one. */
  readonly port?: number
  /** Path of a unix socket that replaces host and port for state history. */
  readonly shipSocketPath?: string
  /** TCP port of the chain API; 0 (default) takes any free one. */
  readonly httpPort?: number
  /** How sessions misbehave, for tests. */
  readonly faults?: FaultPlan
}
