import type { ReceivedBlock } from '../block.ts'
import { CreditWindow } from '../credits.ts'
import type { ProtocolCodec, WirePosition } from '../types.ts'
import { namesParent } from '../linkage.ts'

/** Messages that a node may send ahead within a range, as long as the bytes allow it. */
const WINDOW = 4096
const ACK_BATCH = 64

/** A range as it is requested. */
export interface RangeRequest<P extends ProtocolCodec, L> {
  readonly start: number
  /** Number after the last block. */
  readonly end: number
  readonly link: L | null
  /** Protocol of the blocks. */
  readonly protocol: P | null
  /** Bytes of this range that may be held and in flight. */
  readonly budgetBytes: number
  /** Size expected of a block. */
  readonly blockBytes: number
}

/** Consecutive blocks that are requested from one node. They are buffered as they come, and taken from the front after all blocks before them. Without a link the range is unassigned.
 */
export class RangeTask<P extends ProtocolCodec, L> {
  readonly start: number
  /** Number after the last block. Decreases when the rest is requested from another node. */
  end: number
  readonly link: L | null
  /** Protocol of the blocks. */
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

  /** Number of the first block that was not taken. */
  get firstBuffered(): number {
    return this.start + this.#taken
  }

  /** Whether every block has arrived. */
  get isComplete(): boolean {
    return this.next >= this.end
  }

  /** Whether every block has been taken. */
  get isTaken(): boolean {
    return this.firstBuffered >= this.end
  }

  /** Bytes of all blocks that have arrived. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether a block with this parent continues the range. The first one is compared when it is taken. */
  continues(parent: WirePosition | null, block: Uint8Array | null): boolean {
    const last = this.#blocks.at(-1)
    return last === undefined || last === null || namesParent(last.idBytes, parent, block)
  }

  push(block: ReceivedBlock): void {
    this.#blocks.push(block)
    this.#bytes += block.bytes
    this.credits.hold(block.bytes)
  }

  /** The first block that was not taken; null when it has not arrived. */
  peek(): ReceivedBlock | null {
    return this.#blocks[this.#taken] ?? null
  }

  /** Takes what `peek` gave. */
  take(): void {
    this.#blocks[this.#taken] = null
    this.#taken += 1
  }

  /** Ends the range after the received blocks; the unassigned rest begins at `next`. */
  cutAtNext(): void {
    this.end = this.next
  }

  /** Ends the range behind what was taken, and drops the rest. */
  cutAtTaken(): void {
    this.#blocks.length = this.#taken
    this.end = this.next
  }
}
