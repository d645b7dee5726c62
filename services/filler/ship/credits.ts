/**
 * Message size that is assumed until the first message arrives: large, so that the first messages fit the byte budget.
 */
const FIRST_ESTIMATE_BYTES = 256 * 1024
/** Weight by which smaller messages lower the size estimate. Larger messages raise the estimate at once. */
const ESTIMATE_DECAY = 1 / 64

/**
 * Flow control of one session. The protocol limits messages, but memory limits bytes. So the number of messages that
 * the node may still send (its credits) is chosen such that messages of the recent size, together with the blocks in
 * the pipeline, fit into the byte budget. Held blocks remain after a connection is closed; credits do not.
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
   * `window` and `ackBatch` count messages. `maxBytes` limits held and in-flight bytes together. `estimateBytes` is
   * the expected size of the first messages, if known.
   */
  constructor(window: number, ackBatch: number, maxBytes: number, estimateBytes = FIRST_ESTIMATE_BYTES) {
    this.#estimateBytes = estimateBytes
    this.#window = window
    this.#ackBatch = ackBatch
    this.#maxBytes = maxBytes
  }

  /** Number of messages that the node may still send. */
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

  /** Drops the credits, because the connection is closed. */
  close(): void {
    this.#credits = 0
  }

  /** Counts a blocks result of `bytes` that arrived. Every result costs a credit, even one without a block. */
  spend(bytes: number): void {
    if (this.#credits > 0) this.#credits -= 1
    if (bytes > this.#estimateBytes) this.#estimateBytes = bytes
    else this.#estimateBytes += (bytes - this.#estimateBytes) * ESTIMATE_DECAY
  }

  /** Counts a block that was handed to the pipeline. */
  hold(bytes: number): void {
    this.#heldBlocks += 1
    this.#heldBytes += bytes
  }

  /** Frees `blocks` blocks of `bytes` bytes in all, because the pipeline no longer needs them. */
  release(blocks: number, bytes: number): void {
    this.#heldBlocks = Math.max(0, this.#heldBlocks - blocks)
    this.#heldBytes = this.#heldBlocks === 0 ? 0 : Math.max(0, this.#heldBytes - bytes)
  }

  /**
   * Number of messages to acknowledge now; 0 if no acknowledgement is due. The caller must send the acknowledgement,
   * because the messages already count as credits of the node.
   *
   * For `reversible` blocks each message is acknowledged at once, without waiting for the pipeline, as long as the byte
   * budget lasts. Leap 3.2 to 5.0 loses a fork that happens while the session has no credits.
   */
  takeDue(reversible: boolean): number {
    const wanted = this.#wanted(reversible)
    const due = wanted - this.#credits
    if (due <= 0) return 0
    // Acknowledge at the latest when half of the credits are used up. Otherwise node and reader could wait for each
    // other forever.
    if (!reversible && due < this.#ackBatch && due < wanted / 2) return 0
    this.#credits += due
    return due
  }

  #wanted(reversible: boolean): number {
    const room = this.#maxBytes - this.#heldBytes
    const byCount = reversible ? this.#window : this.#window - this.#heldBlocks
    const byBytes = Math.floor(room / this.#estimateBytes)
    if (byBytes >= 1) return Math.max(0, Math.min(byCount, byBytes))
    // Always allow one message. Otherwise a message that is larger than the budget could never be read.
    return (room > 0 && byCount > 0) || this.#heldBlocks === 0 ? 1 : 0
  }
}
