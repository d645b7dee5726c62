import { setTimeout as wait } from 'node:timers/promises'

/** Limits the rate of requests to `perSecond`, evenly spaced. */
export class Pace {
  readonly #intervalMs: number
  #nextMs = 0

  constructor(perSecond: number) {
    this.#intervalMs = 1_000 / perSecond
  }

  /** Waits until the next request may start. */
  async turn(): Promise<void> {
    const nowMs = performance.now()
    const startMs = Math.max(nowMs, this.#nextMs)
    this.#nextMs = startMs + this.#intervalMs
    if (startMs > nowMs) await wait(startMs - nowMs)
  }
}
