/** Numbers of a back-off. */
export interface BackoffSettings {
  readonly firstMs: number
  /** Each delay is twice the one before, up to this. Default `firstMs`: all delays are the same. */
  readonly longestMs?: number
  /** Part of each delay that is random, 0 to 1, so that clients of one server do not return at the same time. Default 0. */
  readonly jitter?: number
  /** 0 inclusive to 1 exclusive. Default `Math.random`. */
  readonly random?: () => number
}

/** The delay after so many failures in a row, 0 being the first. */
export function backoffDelayMs(settings: BackoffSettings, failures: number): number {
  const { firstMs, longestMs = firstMs, jitter = 0, random = Math.random } = settings
  const delayMs = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 30))
  return delayMs * (1 - jitter + jitter * random())
}

/** Delays between attempts, and how many failures have led to the next one. */
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

  /** Begins again with the first delay, after a success. */
  reset(): void {
    this.#failures = 0
  }
}
