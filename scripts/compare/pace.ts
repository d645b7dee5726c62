import { setTimeout as wait } from 'node:timers/promises'

/** Spreads requests over time: at most `perSecond` of them begin in a second. */
export class Pace {
  readonly #intervalMs: number
  #nextMs = 0

  constructor(perSecond: number) {
    this.#intervalMs = 1_000 / perSecond
  }

  /** Waits for the next turn. */
  async turn(): Promise<void> {
    const nowMs = performance.now()
    const startMs = Math.max(nowMs, this.#nextMs)
    this.#nextMs = startMs + this.#intervalMs
    if (startMs > nowMs) await wait(startMs - nowMs)
  }
}
