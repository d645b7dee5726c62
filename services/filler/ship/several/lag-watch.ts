/** Measurements of the streaming node and of the other nodes at one time. */
export interface LagFacts {
  /** Newest block received from the stream. */
  readonly last: number
  /** Newest head of the other nodes; 0 when none is known. */
  readonly otherHead: number
  readonly bytesRead: number
  /**
   * Whether the node may send. False while the node has to wait for an acknowledgement or the pipeline is full: silence
   * is then no fault of the node.
   */
  readonly isExpected: boolean
}

/** Result of a sample: the stream did not send a block in time although another node has it. */
export interface Lag {
  readonly block: number
  /** Time in ms since this process first saw that another node has block `block`. */
  readonly ms: number
  /** Whether the stream sent no byte at all in the allowed time. */
  readonly isSilent: boolean
}

/**
 * Maximum share of the allowed time that an interval between two samples counts. After a longer interval this process
 * was busy, so the node is not to blame for the rest of the interval. With a share of 0.4, a lag is reported after
 * three samples at the earliest.
 */
const MOST_STEP_SHARE = 0.4

/** While the stream is catching up, a block may take STUCK_FACTOR times the allowed time if bytes still arrive. */
const STUCK_FACTOR = 5

/**
 * Detects that the stream lags: another node has a block, and the streaming node does not send this block within the
 * allowed time.
 */
export class LagWatch {
  #allowedMs = 0
  #sampledAt = 0
  /**
   * Clock of the samples, ms: the sum of the intervals between samples. An interval adds at most MOST_STEP_SHARE x
   * `#allowedMs`. `#since`, `#byteAt` and `#blockAt` are readings of `#clock`.
   */
  #clock = 0
  #block = 0
  #since = 0
  #bytesRead = 0
  #byteAt = 0
  #last = 0
  #blockAt = 0
  /** Whether the stream has reached the head of the other nodes. Until then, the stream is catching up. */
  #hasArrived = false

  /**
   * Resets the watch after the stream has switched to another node. The node then has `allowedMs` to send a block that
   * another node already has.
   */
  begin(nowMs: number, allowedMs: number): void {
    this.#allowedMs = allowedMs
    this.#sampledAt = nowMs
    const now = this.#clock
    this.#block = 0
    this.#bytesRead = 0
    this.#byteAt = now
    this.#blockAt = now
    this.#hasArrived = false
  }

  /** Takes a sample of the stream. Returns the lag of the stream; null while the stream sends its blocks in time. */
  sample(nowMs: number, facts: LagFacts): Lag | null {
    const { last, otherHead, bytesRead, isExpected } = facts
    this.#clock += Math.min(nowMs - this.#sampledAt, this.#allowedMs * MOST_STEP_SHARE)
    this.#sampledAt = nowMs
    const now = this.#clock
    if (bytesRead !== this.#bytesRead) this.#byteAt = now
    this.#bytesRead = bytesRead
    if (last !== this.#last || !isExpected) this.#blockAt = now
    this.#last = last
    if (otherHead <= last) {
      this.#block = 0
      this.#hasArrived = true
      return null
    }
    if (this.#block === 0 || last >= this.#block || !isExpected) {
      if (this.#block !== 0 && last >= this.#block) this.#hasArrived = true
      this.#block = otherHead
      this.#since = now
      if (!isExpected) this.#byteAt = now
      return null
    }
    const ms = now - this.#since
    if (ms < this.#allowedMs) return null
    const isSilent = now - this.#byteAt >= this.#allowedMs
    const isStuck = now - this.#blockAt >= this.#allowedMs * STUCK_FACTOR
    return isSilent || isStuck || this.#hasArrived ? { block: this.#block, ms, isSilent } : null
  }
}
