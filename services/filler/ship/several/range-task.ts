import type { ReceivedBlock } from '../block.ts'
import { CreditWindow } from '../credits.ts'
import type { ProtocolCodec, WirePosition } from '../types.ts'
import { namesParent } from '../linkage.ts'

/**
 * Maximum number of messages that a node may send without an acknowledgement. Usually `budgetBytes` limits the node to
 * fewer messages.
 */
const WINDOW = 4096
const ACK_BATCH = 64

/** Constructor options of a `RangeTask`. */
export interface RangeRequest<P extends ProtocolCodec, L> {
  readonly start: number
  /** End of the range (exclusive): number of the last block plus one. */
  readonly end: number
  readonly link: L | null
  /** Protocol (the ABI of the node's messages) with which the node encodes its blocks. */
  readonly protocol: P | null
  /** Maximum size in bytes of the range's blocks that are in memory or that the node is still sending. */
  readonly budgetBytes: number
  /** Estimated size of a block, bytes. */
  readonly blockBytes: number
}

/**
 * Consecutive blocks that are requested from one node. Blocks are buffered as they arrive. The buffered blocks are
 * delivered once all blocks of earlier ranges have been delivered. `link` is the connection to the node; a range
 * without `link` is not requested yet.
 */
export class RangeTask<P extends ProtocolCodec, L> {
  readonly start: number
  /**
   * End of the range (exclusive): number of the last block plus one. Decreases if the rest of the range is requested
   * from another node.
   */
  end: number
  readonly link: L | null
  /** Protocol (the ABI of the node's messages) with which the node encodes its blocks. */
  readonly protocol: P | null
  readonly credits: CreditWindow
  readonly #blocks: (ReceivedBlock | null)[] = []
  #taken = 0
  #bytes = 0

  constructor({ start, end, link, protocol, budgetBytes, blockBytes }: RangeRequest<P, L>) {
    this.start = start
    this.end = end
    this.link = link
    this.protocol = protocol
    this.credits = new CreditWindow(WINDOW, ACK_BATCH, budgetBytes, blockBytes)
  }

  /** Number of the block that the node sends next. */
  get next(): number {
    return this.start + this.#blocks.length
  }

  /** Number of the first block that has not been taken for delivery yet. */
  get firstBuffered(): number {
    return this.start + this.#taken
  }

  /** Whether every block of the range has arrived from the node. */
  get isComplete(): boolean {
    return this.next >= this.end
  }

  /** Whether every block of the range has been taken for delivery. */
  get isTaken(): boolean {
    return this.firstBuffered >= this.end
  }

  /** Size of all blocks of the range that have arrived, bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Id of the last block in the buffer of the range; null if the buffer is empty. */
  get lastId(): Uint8Array | null {
    return this.#blocks.at(-1)?.idBytes ?? null
  }

  /**
   * Whether a block links to the last block in the buffer of the range. True if the buffer is empty: the link is then
   * checked when the block is delivered.
   */
  continues(parent: WirePosition | null, block: Uint8Array | null): boolean {
    const last = this.lastId
    return last === null || namesParent(last, parent, block)
  }

  push(block: ReceivedBlock): void {
    this.#blocks.push(block)
    this.#bytes += block.bytes
    this.credits.hold(block.bytes)
  }

  /** The first block that has not been taken for delivery yet; null if this block has not arrived. */
  peek(): ReceivedBlock | null {
    return this.#blocks[this.#taken] ?? null
  }

  /** Removes the block that `peek` returns. */
  take(): void {
    this.#blocks[this.#taken] = null
    this.#taken += 1
  }

  /** Shortens the range to the received blocks. The caller requests the blocks from `next` on again. */
  cutAtNext(): void {
    this.end = this.next
  }

  /** Shortens the range to the blocks that were taken for delivery, and drops the buffered blocks. */
  cutAtTaken(): void {
    this.#blocks.length = this.#taken
    this.end = this.next
  }
}
