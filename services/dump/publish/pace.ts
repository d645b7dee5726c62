import { pause } from '../../core/retry/index.ts'

/**
 * Time that a session works between two pauses, ms. The time is short, because a block or a request may wait for as
 * long as a session works.
 */
const WORK_MS = 20

/**
 * Pauses a session after each period of work, so that the session works only a share of the time. Without pauses, a
 * publication takes a processor from the reader and from requests. On two processors the time from the arrival of a
 * block to its commit then grew by 90 % (p50, 2026-11-29, `bench latency --publish`).
 */
export class Pace {
  readonly #share: number
  readonly #signal: AbortSignal
  #sinceMs = performance.now()

  /** @param share of the time that the session works: above 0, at most 1 (no pauses). */
  constructor(share: number, signal: AbortSignal) {
    this.#share = share
    this.#signal = signal
  }

  /** Called between two steps of work. Pauses if the session has worked long enough since the last pause. */
  async rest(): Promise<void> {
    const workedMs = performance.now() - this.#sinceMs
    if (this.#share === 1 || workedMs < WORK_MS) return
    await pause(workedMs * (1 / this.#share - 1), this.#signal)
    this.#sinceMs = performance.now()
  }
}
