/** Size assumed for a message before any has been seen. Large enough that the first window fits the budget. */
const FIRST_ESTIMATE_BYTES = 256 * 1024
/** Decay of the estimate for shrinking sizes; growing sizes apply at once. */
const ESTIMATE_DECAY = 1 / 64

/**
 * Flow control of one session. The protocol counts messages, memory counts bytes: the number of messages that the node may
 * still send (its credits) is limited so that, at the size of recent messages, they fit into the byte budget together with
 * the blocks in the pipeline. Held messages outlive a connection, credits do not.
 */
export class CreditWindow {
  readonly #window: number
  readonly #ackBatch: number
  readonly #maxBytes: number
  #credits = 0
  #heldBlocks = 0
  #heldBytes = 0
  #estimateBytes: number

  /**
   * `window` and `ackBatch` in messages, `maxBytes` for what is held and in flight together; `estimateBytes` is the
   * size expected of the first messages, where one is known.
   */
  constructor(window: number, ackBatch: number, maxBytes: number, estimateBytes = FIRST_ESTIMATE_BYTES) {
    this.#estimateBytes = estimateBytes
    this.#window = window
    this.#ackBatch = ackBatch
    this.#maxBytes = maxBytes
  }

  /** Messages that the node may still send. */
  get credits(): number {
    return this.#credits
  }

  get heldBlocks(): number {
    return this.#heldBlocks
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Credits for a new blocks request, at least one. */
  open(): number {
    this.#credits = Math.max(1, this.#wanted(true))
    return this.#credits
  }

  /** The connection is gone and with it what the node was allowed to send. */
  close(): void {
    this.#credits = 0
  }

  /** A blocks result of `bytes` arrived. Every one costs a credit, also an empty one. */
  spend(bytes: number): void {
    if (this.#credits > 0) this.#credits -= 1
    if (bytes > this.#estimateBytes) this.#estimateBytes = bytes
    else this.#estimateBytes += (bytes - this.#estimateBytes) * ESTIMATE_DECAY
  }

  /** A block was handed to the pipeline. */
  hold(bytes: number): void {
    this.#heldBlocks += 1
    this.#heldBytes += bytes
  }

  /** The pipeline no longer needs `blocks` blocks of `bytes` bytes in all. */
  release(blocks: number, bytes: number): void {
    this.#heldBlocks = Math.max(0, this.#heldBlocks - blocks)
    this.#heldBytes = this.#heldBlocks === 0 ? 0 : Math.max(0, this.#heldBytes - bytes)
  }

  /**
   * Number of messages to acknowledge now, 0 when it is too early; they count as granted. Among `reversible`
   * blocks acknowledgements are not collected and do not wait for the pipeline while the budget lasts:
   * Leap 3.2 to 5.0 loses a fork that happens while the session is out of credits.
   */
  takeDue(reversible: boolean): number {
    const wanted = this.#wanted(reversible)
    const due = wanted - this.#credits
    if (due <= 0) return 0
    // Never more than half of what is wanted is collected, else both sides could wait for each other.
    if (!reversible && due < this.#ackBatch && due < wanted / 2) return 0
    this.#credits += due
    return due
  }

  #wanted(reversible: boolean): number {
    const room = this.#maxBytes - this.#heldBytes
    const byCount = reversible ? this.#window : this.#window - this.#heldBlocks
    const byBytes = Math.floor(room / this.#estimateBytes)
    if (byBytes >= 1) return Math.max(0, Math.min(byCount, byBytes))
    // A message larger than the budget must get through, one at a time.
    return (room > 0 && byCount > 0) || this.#heldBlocks === 0 ? 1 : 0
  }
}
