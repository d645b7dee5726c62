/** Weight of the newest measurement in the moving average of a node's rate. */
const SHARE = 0.4
/** Shortest time over which a rate is measured, ms. */
const LEAST_MS = 150

/**
 * Measures the rate at which a node sends, in bytes a second. Time in which the node may not send does not count: the
 * node has to wait for an acknowledgement, or this process has paused reading. Time in which the node may send but is
 * silent counts, and lowers the rate.
 */
export class RateMeter {
  #rate: number | null = null
  #sampledAt = 0
  #sampledBytes = 0
  #busyMs = 0
  #busyBytes = 0
  #lastByteAt = 0
  #beganAt = 0

  /** Rate at which the node sends, bytes a second (moving average); null before the first measurement. */
  get bytesPerSecond(): number | null {
    return this.#rate
  }

  /** Time in ms for which the node has sent no byte while it was expected to send. */
  silentMs(now: number): number {
    return Math.max(0, now - this.#lastByteAt)
  }

  /** Starts to measure the rate of the node for a newly requested range. */
  begin(bytesRead: number): void {
    this.#sampledAt = performance.now()
    this.#beganAt = this.#sampledAt
    this.#sampledBytes = bytesRead
    this.#lastByteAt = this.#sampledAt
  }

  /** Milliseconds since the range was requested. */
  rangeMs(now: number): number {
    return now - this.#beganAt
  }

  /** Takes the last sample for a range whose blocks have all arrived. */
  end(bytesRead: number): void {
    this.sample(performance.now(), bytesRead, true)
  }

  /**
   * Takes a sample while a range is read. `bytesRead` is the number of bytes received on the connection. `isExpected`
   * is false while the node may not send.
   */
  sample(now: number, bytesRead: number, isExpected: boolean): void {
    const bytes = bytesRead - this.#sampledBytes
    if (bytes !== 0 || !isExpected) this.#lastByteAt = now
    if (isExpected) {
      this.#busyMs += now - this.#sampledAt
      this.#busyBytes += Math.max(0, bytes)
    }
    this.#sampledAt = now
    this.#sampledBytes = bytesRead
    if (this.#busyMs < LEAST_MS) return
    const rate = (this.#busyBytes * 1_000) / this.#busyMs
    this.#rate = this.#rate === null ? rate : this.#rate * (1 - SHARE) + rate * SHARE
    this.#busyMs = 0
    this.#busyBytes = 0
  }
}
