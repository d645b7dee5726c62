/** Data for the comparison of the stream with other nodes. */
export interface LagFacts {
  /** Newest block that came. */
  readonly last: number
  /** Newest head of the other nodes; 0 when none is known. */
  readonly otherHead: number
  readonly bytesRead: number
  /** False while the stream waits for us. */
  readonly isExpected: boolean
}

/** A stream that has not sent in time a block that others have. */
export interface Lag {
  readonly block: number
  /** How long others have had the block. */
  readonly ms: number
  /** Whether nothing at all came in that time. */
  readonly isSilent: boolean
}

/** Maximum time between two samples that counts: more means that this process was busy, ms. */
const MOST_STEP_MS = 250

/** How much longer a stream may take for one block while catching up, as long as bytes come. */
const STUCK_FACTOR = 5

/** Checks that the streaming node sends each block within a time after another one had it. */
export class LagWatch {
  readonly #allowedMs: number
  #sampledAt = 0
  /** Milliseconds that count. */
  #clock = 0
  #block = 0
  #since = 0
  #bytesRead = 0
  #byteAt = 0
  #last = 0
  #blockAt = 0
  /** Whether the stream has been at the head: before, it is catching up. */
  #hasArrived = false

  /** `allowedMs` is the time limit of the streaming node. */
  constructor(allowedMs: number) {
    this.#allowedMs = allowedMs
  }

  /** The stream has switched to another node. */
  begin(nowMs: number): void {
    this.#sampledAt = nowMs
    const now = this.#clock
    this.#block = 0
    this.#bytesRead = 0
    this.#byteAt = now
    this.#blockAt = now
    this.#hasArrived = false
  }

  /** How far the stream lags; null while it does not. */
  sample(nowMs: number, facts: LagFacts): Lag | null {
    const { last, otherHead, bytesRead, isExpected } = facts
    this.#clock += Math.min(nowMs - this.#sampledAt, MOST_STEP_MS)
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
