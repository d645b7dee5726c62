/** Delays between attempts to connect: they double from a minimum to a maximum, each with jitter. */
export interface Backoff {
  /** Delay before the next attempt, in milliseconds. */
  nextDelayMs(): number
  /** Begins again with the minimum, after good service. */
  reset(): void
}

/** Creates a back-off of `minMs` to `maxMs`. Half of each delay is fixed and half random, so that readers that lost the same node do not reconnect at the same time.
 */
export function createBackoff(minMs: number, maxMs: number, random: () => number): Backoff {
  let failures = 0
  return {
    nextDelayMs() {
      const delayMs = Math.min(maxMs, minMs * 2 ** Math.min(failures, 30))
      failures += 1
      return delayMs * (0.5 + random() / 2)
    },
    reset() {
      failures = 0
    },
  }
}

/** Waits `delayMs`, or until the signal aborts; resolves in both cases. */
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    const finish = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, delayMs)
    signal.addEventListener('abort', finish)
  })
}
