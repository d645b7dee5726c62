/** Minimum time of observation before the remaining time is estimated, ms. */
const LEAST_MS = 4_000
/** Averaging time in ms of the rate: the number of blocks that a reader gains on the head. */
const RATE_MS = 30_000
/** Time constant in ms with which the shown estimate approaches a new estimate. */
const SHOWN_MS = 10_000

interface Sample {
  readonly atMs: number
  readonly block: number
  readonly head: number
}

/**
 * Estimates the time until a reader reaches the head of the chain. The rate is the number of blocks that the reader
 * gained on the head in the last 30 seconds. After a change of the rate, the shown estimate changes gradually, within
 * about ten seconds.
 */
export class TimeLeft {
  readonly #samples: Sample[] = []
  #shown: { readonly atMs: number; readonly seconds: number } | undefined

  /**
   * Records a position of the reader and of the head. @param atMs time by a clock that only moves forward.
   */
  note(atMs: number, block: number, head: number): void {
    this.#samples.push({ atMs, block, head })
    while (atMs - this.#samples[0]!.atMs > RATE_MS) this.#samples.shift()
    const estimate = this.#estimate(head - block)
    if (estimate === undefined) {
      this.#shown = undefined
      return
    }
    if (!this.#shown) {
      this.#shown = { atMs, seconds: estimate }
      return
    }
    const passedMs = atMs - this.#shown.atMs
    const expected = Math.max(0, this.#shown.seconds - passedMs / 1_000)
    const weight = 1 - Math.exp(-passedMs / SHOWN_MS)
    this.#shown = { atMs, seconds: expected + (estimate - expected) * weight }
  }

  /**
   * Estimated seconds until the reader reaches the head, as of the last recorded position; null if the reader does not
   * come closer to the head, or has been observed for too short a time.
   */
  get seconds(): number | null {
    return this.#shown?.seconds ?? null
  }

  #estimate(lagBlocks: number): number | undefined {
    const first = this.#samples[0]
    const last = this.#samples.at(-1)
    if (!first || !last || last.atMs - first.atMs < LEAST_MS) return undefined
    const gain = last.block - first.block - Math.max(0, last.head - first.head)
    return gain > 0 ? (Math.max(0, lagBlocks) * (last.atMs - first.atMs)) / 1_000 / gain : undefined
  }
}
