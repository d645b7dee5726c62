/** Parameters of an exponential back-off. */
export interface BackoffSettings {
  readonly firstMs: number
  /**
   * Maximum delay. Each delay is twice the previous one, up to this maximum. Default `firstMs`: all delays
   * are equal.
   */
  readonly longestMs?: number
  /** Random part of each delay, 0 to 1, so that clients of one server do not return simultaneously. Default 0. */
  readonly jitter?: number
  /** Source of random numbers, 0 inclusive to 1 exclusive; default `Math.random`. */
  readonly random?: () => number
}

/** Delay after a number of consecutive failures; 0 gives the first delay. */
export function backoffDelayMs(settings: BackoffSettings, failures: number): number {
  const { firstMs, longestMs = firstMs, jitter = 0, random = Math.random } = settings
  const delayMs = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 30))
  return delayMs * (1 - jitter + jitter * random())
}

/** Back-off with a counter of consecutive failures. */
export class Backoff {
  readonly #settings: BackoffSettings
  #failures = 0

  constructor(settings: BackoffSettings) {
    this.#settings = settings
  }

  /** Delay before the next attempt, in milliseconds. */
  nextDelayMs(): number {
    return backoffDelayMs(this.#settings, this.#failures++)
  }

  /** Resets the counter of failures; called after a success. */
  reset(): void {
    this.#failures = 0
  }
}
