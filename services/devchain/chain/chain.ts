import { FatalError } from '../../core/errors/index.ts'
import type { ChainBlock, Position } from './block.ts'
import { applyReceipts } from './receipts.ts'
import { ChainState } from './state.ts'

/** Listener for changes of the chain. Called synchronously, in order. */
export interface ChainListener {
  /** Called after a block has become the head. */
  onBlock(block: ChainBlock): void
  /** Called after all blocks from `num` on were undone. */
  onRewind(num: number): void
}

export interface ChainOptions {
  /** The last irreversible block is this many blocks behind the head. */
  readonly libLagBlocks: number
  /** Limit of payload bytes in memory. Above it, the oldest irreversible blocks are dropped, as in a pruning node. */
  readonly retainBytes: number
}

const noId = Buffer.alloc(32)

/**
 * The blocks of the current branch and the state after the last of them. Blocks are appended, and undone down to the
 * last irreversible block.
 */
export class Chain {
  readonly state = new ChainState()
  readonly #options: ChainOptions
  readonly #listeners = new Set<ChainListener>()
  #blocks: ChainBlock[] = []
  #lib: Position = { num: 0, id: noId }
  #bytes = 0

  constructor(options: ChainOptions) {
    this.#options = options
  }

  /** Number of the oldest block in memory; 0 for an empty chain. */
  get first(): number {
    return this.#blocks[0]?.num ?? 0
  }

  /** The last block; number 0 and a zero id for an empty chain. */
  get head(): Position {
    return this.#blocks.at(-1) ?? { num: 0, id: noId }
  }

  /** The last irreversible block. */
  get lib(): Position {
    return this.#lib
  }

  /** The block with this number in the current branch, if it is in memory. */
  at(num: number): ChainBlock | undefined {
    return this.#blocks[num - this.first]
  }

  /**
   * Subscribes a listener.
   * @returns a function that unsubscribes it.
   */
  follow(listener: ChainListener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /**
   * Applies a foreign block to the state and appends it as the head.
   * @throws FatalError RECORDING_INVALID if it does not follow the head or cannot be parsed
   */
  push(block: ChainBlock): void {
    this.#check(block)
    this.state.journal.begin(block.num)
    try {
      if (block.deltas !== null) this.state.applyDeltas(block.deltas)
      if (block.traces !== null) applyReceipts(this.state, block.traces)
    } catch (cause) {
      throw new FatalError('RECORDING_INVALID', `block ${block.num} cannot be read`, { cause })
    }
    this.append(block)
  }

  /**
   * Appends a block as the head, but does not apply the block to the state: the state already has its changes, or
   * nothing reads the state.
   * @throws FatalError RECORDING_INVALID if the block does not follow the head
   */
  append(block: ChainBlock): void {
    this.#check(block)
    this.#blocks.push(block)
    this.#bytes += sizeOf(block)
    this.#raiseLib(block)
    this.#dropOldest()
    for (const listener of this.#listeners) listener.onBlock(block)
  }

  /**
   * Undoes all blocks above `num`.
   * @throws FatalError INVALID_REQUEST if `num` is below the last irreversible block
   */
  rewindTo(num: number): void {
    if (num >= this.head.num) return
    if (num < this.#lib.num) {
      throw new FatalError(
        'INVALID_REQUEST',
        `block ${num + 1} is irreversible, as are all blocks up to ${this.#lib.num}`,
      )
    }
    for (const gone of this.#blocks.splice(num - this.first + 1)) this.#bytes -= sizeOf(gone)
    this.state.journal.rewindTo(num)
    for (const listener of this.#listeners) listener.onRewind(num + 1)
  }

  #check(block: ChainBlock): void {
    const head = this.head
    if (head.num === 0) return
    if (block.num !== head.num + 1 || block.prevId?.equals(head.id) !== true) {
      throw new FatalError('RECORDING_INVALID', `block ${block.num} does not follow block ${head.num}`)
    }
  }

  #raiseLib(block: ChainBlock): void {
    const next = block.seen?.lib ?? this.at(block.num - this.#options.libLagBlocks)
    if (next === undefined || next.num <= this.#lib.num) return
    this.#lib = { num: next.num, id: next.id }
    this.state.journal.forgetTo(next.num)
  }

  #dropOldest(): void {
    if (this.#bytes <= this.#options.retainBytes) return
    let count = 0
    // Drop a tenth of the retained bytes at a time: each removal copies the whole array of blocks.
    while (this.#bytes > this.#options.retainBytes * 0.9 && this.#blocks[count]!.num < this.#lib.num) {
      this.#bytes -= sizeOf(this.#blocks[count]!)
      count++
    }
    this.#blocks = this.#blocks.slice(count)
  }
}

function sizeOf(block: ChainBlock): number {
  if (block.heldBytes !== undefined) return block.heldBytes
  return (block.block?.length ?? 0) + (block.traces?.length ?? 0) + (block.deltas?.length ?? 0) + 128
}
