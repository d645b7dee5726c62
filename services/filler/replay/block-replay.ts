import { normalizeAbiJson } from '../../core/antelope/abi/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { compileProtocol } from '../decode/index.ts'
import type { Protocol } from '../decode/index.ts'
import type { Handler, Query } from '../handlers/index.ts'
import { assumeMissingAbis, BlockApplier, checkedRoots } from '../pipeline/index.ts'
import type { ReaderOptions, ReaderSettings } from '../pipeline/index.ts'
import { createShipSession } from '../ship/index.ts'
import type { ResumePosition, ShipBlock, ShipConsumer, ShipSession } from '../ship/index.ts'
import { CommitUnit } from '../store/index.ts'

/** A range of blocks; both ends are included. */
export interface BlockRange {
  readonly firstBlock: number
  readonly lastBlock: number
}

/** Consecutive blocks that were replayed, and the row operations of the handlers for these blocks. */
export interface ReplayedWindow extends BlockRange {
  readonly unit: CommitUnit
  /** Time of block `lastBlock`, epoch milliseconds. */
  readonly timeMs: number
}

export interface ReplayOptions {
  readonly settings: ReaderSettings
  readonly chain: ReaderOptions['chain']
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Handlers of the reader, without state history writers. */
  readonly handlers: readonly Handler[]
  /** Runs a read-only statement on the database. */
  readonly query: Query
  readonly shipTiming?: ReaderOptions['shipTiming']
  /** Memory limit for the rows of one window, bytes. A window is the consecutive blocks that are compared at once. */
  readonly windowBytes: number
}

/**
 * Reads irreversible blocks from the node again and passes them through the handlers. Nothing is written. Calls
 * `onWindow` for consecutive windows of blocks; a window ends when its rows take `windowBytes`.
 *
 * @throws the errors of the session and of the applier, and whatever `onWindow` throws.
 */
export async function replayBlocks(
  options: ReplayOptions,
  range: BlockRange,
  onWindow: (window: ReplayedWindow) => Promise<void>,
): Promise<void> {
  const { settings, chain, logger, handlers } = options
  const applier = new BlockApplier(settings.name, handlers, [], logger)
  const before = range.firstBlock - 1
  const query = asOf(options.query, before)
  const times = await query<{ time: bigint }>(
    'SELECT max(block_time) AS time FROM chain.reversible_blocks WHERE reader = $1 AND block_num <= $2',
    [settings.name, before],
  )
  await applier.reload(query, before, Number(times[0]?.time ?? 0))
  await assumeMissingAbis(applier, before, { query, http: chain.http, logger })
  const failing = new AbortController()
  const replay = new Replay(applier, {
    range,
    windowBytes: options.windowBytes,
    onWindow,
    onFailure: () => failing.abort(),
  })
  const session = createShipSession<Protocol>(
    {
      urls: chain.ship,
      chainId: chain.chainId,
      startBlock: range.firstBlock,
      stopBlock: range.lastBlock,
      irreversibleOnly: true,
      prefetchBlocks: settings.ship_prefetch_blocks,
      minBlockConfirmation: settings.ship_min_block_confirmation,
      ...(settings.ship_max_message_bytes === undefined
        ? {}
        : { maxMessageBytes: settings.ship_max_message_bytes }),
      checkBlocks: true,
      checkRoots: checkedRoots(settings),
      compileProtocol: (abi) => compileProtocol(normalizeAbiJson(abi)),
      logger,
      ...(options.shipTiming === undefined ? {} : { timing: options.shipTiming }),
    },
    replay,
  )
  replay.attach(session)
  await session.run(AbortSignal.any([options.signal, failing.signal]))
  await replay.idle()
  options.signal.throwIfAborted()
  if (replay.failure !== null) throw replay.failure
}

/** Hides contract upgrades of later blocks from the handlers: a `v2_since_block` above `block` becomes null. */
function asOf(query: Query, block: number): Query {
  return async <T extends Record<string, unknown>>(text: string, values?: readonly unknown[]) => {
    const rows = await query<T>(text, values)
    return rows.map((row) =>
      typeof row.v2_since_block === 'number' && row.v2_since_block > block
        ? { ...row, v2_since_block: null }
        : row,
    )
  }
}

interface ReplayParts {
  readonly range: BlockRange
  readonly windowBytes: number
  readonly onWindow: (window: ReplayedWindow) => Promise<void>
  readonly onFailure: () => void
}

/**
 * Applies the blocks of a session in order. Blocks wait while the rows of earlier blocks are compared with the
 * database.
 */
class Replay implements ShipConsumer<Protocol> {
  failure: Error | null = null
  readonly #applier: BlockApplier
  readonly #range: BlockRange
  readonly #windowBytes: number
  readonly #onWindow: (window: ReplayedWindow) => Promise<void>
  readonly #onFailure: () => void
  readonly #incoming: (ShipBlock | Protocol)[] = []
  #session: ShipSession | null = null
  #last: { num: number; id: string } | null = null
  #unit = new CommitUnit(false)
  #firstBlock: number
  #working: Promise<void> | null = null

  constructor(applier: BlockApplier, { range, windowBytes, onWindow, onFailure }: ReplayParts) {
    this.#applier = applier
    this.#range = range
    this.#windowBytes = windowBytes
    this.#onWindow = onWindow
    this.#onFailure = onFailure
    this.#firstBlock = range.firstBlock
  }

  attach(session: ShipSession): void {
    this.#session = session
  }

  async idle(): Promise<void> {
    await this.#working
  }

  resumePosition(): ResumePosition {
    return {
      lastApplied: this.#last,
      havePositions: this.#last === null ? [] : [this.#last],
      irreversibleFloor: this.#last?.num ?? 0,
    }
  }

  onProtocol(protocol: Protocol): void {
    this.#take(protocol)
  }

  onBlock(block: ShipBlock): void {
    this.#last = { num: block.num, id: block.id }
    this.#take(block)
  }

  onFork(from: number): void {
    throw new FatalError('FORK_BELOW_IRREVERSIBLE', `the node undoes irreversible block ${from}`)
  }

  #take(item: ShipBlock | Protocol): void {
    this.#incoming.push(item)
    this.#working ??= this.#work()
  }

  async #work(): Promise<void> {
    // Yields one microtask, so that `#working` is assigned before this function can reset it.
    await Promise.resolve()
    try {
      for (let next = this.#incoming.shift(); next !== undefined; next = this.#incoming.shift())
        if (!('num' in next)) this.#applier.useProtocol(next)
        else await this.#apply(next)
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error))
      this.#incoming.length = 0
      this.#onFailure()
    } finally {
      this.#working = null
    }
  }

  async #apply(block: ShipBlock): Promise<void> {
    if (this.failure !== null) return
    const { timeMs } = this.#applier.apply(block, this.#unit)
    this.#unit.closeBlock({ num: block.num, id: Uint8Array.from(block.idBytes), timeMs })
    if (block.num === this.#range.lastBlock || this.#unit.bytes > this.#windowBytes) {
      const unit = this.#unit
      this.#unit = new CommitUnit(false)
      await this.#onWindow({ unit, firstBlock: this.#firstBlock, lastBlock: block.num, timeMs })
      this.#firstBlock = block.num + 1
    }
    // Compare the rows of the last blocks with the database before the last block is released, because that release
    // ends the session.
    this.#session?.release(1, block.bytes)
  }
}
