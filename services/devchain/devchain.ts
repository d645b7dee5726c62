import { FatalError } from '../core/errors/index.ts'
import { Producer, Random } from './activity/index.ts'
import type { BlockContent } from './activity/index.ts'
import { Chain } from './chain/index.ts'
import type { ChainBlock, Position } from './chain/index.ts'
import { chainAnswers } from './http/answers.ts'
import { startChainApi } from './http/server.ts'
import type { ChainApi } from './http/server.ts'
import type { DevchainOptions } from './options.ts'
import { BlockLog } from './recording/block-log.ts'
import { finalBranch } from './recording/branch.ts'
import { Playback } from './recording/playback.ts'
import { readRecording } from './recording/read.ts'
import type { Recording } from './recording/read.ts'
import type { ActionInput } from './runtime/index.ts'
import { createClock } from './schedule.ts'
import type { Clock } from './schedule.ts'
import { shipNodeOf, startShipServer } from './ship/index.ts'
import type { ShipNode, ShipServer } from './ship/index.ts'

const defaults = {
  recordings: ['main', 'v2'],
  rate: 4,
  seed: 1,
  libLagBlocks: 2,
  retainBytes: 512 * 1024 * 1024,
  intervalMs: 500,
  host: '127.0.0.1',
}

/** Limit of blocks that a late timer produces at once. */
const MOST_BLOCKS_AT_ONCE = 20

/** Limit of the depth of a random fork. */
const DEEPEST_RANDOM_FORK = 12

/** A chain with its id and the ABI of the state-history protocol, from which nodes are created. */
export interface ChainSource {
  readonly chain: Chain
  /** ABI of the state-history protocol, which a node sends first. */
  readonly abiText: string
  readonly chainId: string
}

/** A development chain with a state-history socket and a chain API. */
export class Devchain {
  readonly chainId: string
  readonly #options: DevchainOptions
  readonly #chain: Chain
  readonly #node: ShipNode
  readonly #playback: Playback | null
  readonly #chance: Random
  readonly #clock: Clock
  #producer: Producer | null = null
  #log: BlockLog | null = null
  #generatedFrom = 0
  #branch = 0
  #ship: ShipServer | null = null
  #http: ChainApi | null = null
  #timer: NodeJS.Timeout | null = null
  #paused = false

  /** Reads the recordings and creates the first blocks, without listening. See `createDevchain`. */
  constructor(options: DevchainOptions) {
    this.#options = options
    const recordings = (options.recordings ?? defaults.recordings).map(readRecording)
    const first = recordings[0] ?? readRecording('main')
    this.chainId = first.chainId
    this.#chain = new Chain({
      libLagBlocks: options.libLagBlocks ?? defaults.libLagBlocks,
      retainBytes: options.retainBytes ?? defaults.retainBytes,
    })
    this.#playback = options.replay === 'recorded' ? new Playback(this.#chain, recordings) : null
    this.#chance = new Random(`${options.seed ?? defaults.seed}:forks`)
    this.#load(recordings)
    const missing = Math.max(0, (options.blocks ?? 0) - this.#readLog())
    this.#clock = createClock(this.#chain, {
      startTimeMs: options.startTimeMs,
      live: this.#isLive,
      blocks: missing,
      nowMs: Date.now,
    })
    const playback = this.#playback && { source: this.#playback, recordings }
    this.#node = shipNodeOf(this.#chain, { abiText: first.abiText, chainId: this.chainId }, playback)
    this.generate(missing)
  }

  /**
   * Starts listening on both addresses and, with `live`, producing blocks.
   * @throws FatalError PORT_UNAVAILABLE if an address is taken
   */
  async start(): Promise<{ shipUrl: string; httpUrl: string }> {
    const { host = defaults.host, port = 0, httpPort = 0, shipSocketPath, faults } = this.#options
    const shipAddress = shipSocketPath === undefined ? { host, port } : { path: shipSocketPath }
    const ship = await startShipServer(this.#node, shipAddress, faults ?? (() => undefined))
    this.#ship = ship
    this.#chain.follow({ onBlock: () => ship.pump(), onRewind: (num) => ship.rewind(num) })
    try {
      this.#http = await startChainApi(chainAnswers(this.#chain, this.chainId), { host, port: httpPort })
    } catch (error) {
      await ship.close()
      throw error
    }
    if (this.#isLive) this.#startTimer()
    return { shipUrl: ship.url, httpUrl: this.#http.url }
  }

  /** Ends every session and stops producing blocks. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    await Promise.all([this.#ship?.close(), this.#http?.close()])
    this.#log?.close()
    this.#log = null
  }

  /** Number and id of the last block. */
  head(): { num: number; id: string } {
    return printed(this.#chain.head)
  }

  /** Number and id of the last irreversible block. */
  lib(): { num: number; id: string } {
    return printed(this.#chain.lib)
  }

  /** The block with this number in the current branch, if it is in memory. */
  block(num: number): ChainBlock | undefined {
    return this.#chain.at(num)
  }

  /**
   * Produces one block with generated activity. A recording that is still playing is first played to its end.
   * @param content transactions that come before the generated transactions, and the rate of generated actions.
   */
  produceBlock(content: BlockContent = {}): ChainBlock {
    const block = this.#readyProducer().produce(this.#clock.next(), this.#branch, content)
    if (this.#chance.chance(this.#options.forks ?? 0)) this.#forkByChance()
    return block
  }

  /**
   * Creates an action for `produceBlock`, packed by the ABI in force.
   * @throws FatalError RECORDING_INVALID if the account has no ABI.
   */
  action(account: string, name: string, actor: string, data: Readonly<Record<string, unknown>>): ActionInput {
    return this.#readyProducer().action(account, name, actor, data)
  }

  #readyProducer(): Producer {
    this.#playback?.finish()
    return (this.#producer ??= this.#createProducer())
  }

  /** Produces `count` blocks as fast as possible. */
  generate(count: number): void {
    for (let made = 0; made < count; made++) this.produceBlock()
  }

  /**
   * Undoes the last `depth` blocks and produces `length` new blocks (default: one more than were undone).
   * @throws FatalError INVALID_REQUEST if fewer generated blocks are reversible, or if the branch would be shorter
   */
  fork(depth: number, length: number = depth + 1): void {
    this.#playback?.finish()
    const reversible = this.#reversible()
    if (depth < 1 || depth > reversible) {
      throw new FatalError(
        'INVALID_REQUEST',
        `a fork of ${depth} blocks is too deep: only ${reversible} are reversible`,
      )
    }
    if (length < depth) {
      throw new FatalError(
        'INVALID_REQUEST',
        `the fork (${length} blocks) must be longer than the branch that it replaces (${depth})`,
      )
    }
    this.#branch++
    this.#chain.rewindTo(this.#chain.head.num - depth)
    for (let made = 0; made < length; made++) this.#producer!.produce(this.#clock.next(), this.#branch)
  }

  /**
   * Appends a block that was produced elsewhere and applies it to the state.
   * @throws FatalError RECORDING_INVALID if the block does not follow the head or cannot be parsed
   */
  append(block: ChainBlock): void {
    this.#chain.push(block)
  }

  /** The data from which a test creates further nodes of this chain. */
  get source(): ChainSource {
    return { chain: this.#chain, abiText: this.#node.abiText, chainId: this.chainId }
  }

  /** Pauses or resumes the timed production of blocks. */
  setPaused(paused: boolean): void {
    this.#paused = paused
  }

  /** Cuts all state-history sessions, like a restarting node. */
  dropSessions(): void {
    this.#ship?.dropSessions()
  }

  get #isLive(): boolean {
    return this.#options.live !== undefined && this.#options.live !== false
  }

  #load(recordings: readonly Recording[]): void {
    if (this.#playback === null) for (const block of finalBranch(recordings)) this.#chain.push(block)
    for (const block of this.#options.append ?? []) this.#chain.append(block)
  }

  /**
   * Restores the stored blocks, and stores new blocks from now on.
   * @returns the number of restored blocks.
   */
  #readLog(): number {
    const { dataFolder } = this.#options
    if (dataFolder === undefined) return 0
    this.#playback?.finish()
    const from = this.#chain.head.num
    const log = new BlockLog(dataFolder)
    log.replayInto(this.#chain)
    this.#log = log
    // The block log subscribes before the session server: a block is in the file before any client receives the block.
    this.#chain.follow({
      onBlock: (block) => this.#log?.append(this.#chain, block),
      onRewind: () => undefined,
    })
    return this.#chain.head.num - from
  }

  #createProducer(): Producer {
    this.#generatedFrom = this.#chain.head.num
    const { seed = defaults.seed, rate = defaults.rate, mix } = this.#options
    return new Producer(this.#chain, { seed, rate, ...(mix === undefined ? {} : { mix }) })
  }

  /** Number of generated blocks that are reversible. */
  #reversible(): number {
    if (this.#producer === null) return 0
    return this.#chain.head.num - Math.max(this.#chain.lib.num, this.#generatedFrom)
  }

  #forkByChance(): void {
    const reversible = this.#reversible()
    if (reversible > 0) this.fork(this.#chance.between(1, Math.min(reversible, DEEPEST_RANDOM_FORK)))
  }

  #startTimer(): void {
    const live = this.#options.live
    const intervalMs = (live === false ? undefined : live?.intervalMs) ?? defaults.intervalMs
    this.#timer = setInterval(() => {
      if (this.#paused || this.#playback?.done === false) return
      this.produceBlock()
      // Timers fire late: produce a few more blocks until the head's time is the present.
      for (let more = 0; more < MOST_BLOCKS_AT_ONCE && this.#clock.isBehind(); more++) this.produceBlock()
    }, intervalMs)
  }
}

/**
 * Creates a chain of recordings and generated blocks. Call `start` to listen. Apart from the times of live blocks
 * everything derives from the options: chains with equal options are identical.
 * @throws FatalError RECORDING_INVALID if a recording cannot be read
 */
export function createDevchain(options: DevchainOptions = {}): Devchain {
  return new Devchain(options)
}

function printed(position: Position): { num: number; id: string } {
  return { num: position.num, id: position.id.toString('hex') }
}
