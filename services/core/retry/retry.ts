import { backoffDelayMs } from './backoff.ts'
import type { BackoffSettings } from './backoff.ts'
import { pause } from './pause.ts'

/** Delays between attempts, and conditions for giving up. */
export interface RetrySettings extends BackoffSettings {
  /** Maximum number of attempts; default: no limit. */
  readonly attempts?: number
  /** Time in ms since the start of the first attempt after which no further attempt starts; default: no limit. */
  readonly withinMs?: number
  /** Signal that ends the wait before the next attempt; the error of the last attempt is then thrown. */
  readonly signal?: AbortSignal
  /** Whether a retry may succeed after this error; default: after every error. */
  readonly mayPass?: (error: unknown) => boolean
  /** Called before each wait, with the number of failures so far. */
  readonly onFailure?: (error: unknown, failures: number, delayMs: number) => void
}

/**
 * Runs a task until it succeeds or the settings allow no further attempt.
 *
 * @throws the error of the last attempt.
 */
export async function retry<T>(task: () => Promise<T>, settings: RetrySettings): Promise<T> {
  const { attempts = Infinity, withinMs = Infinity, signal, mayPass, onFailure } = settings
  const deadline = performance.now() + withinMs
  for (let failures = 1; ; failures++) {
    try {
      return await task()
    } catch (error) {
      const delayMs = backoffDelayMs(settings, failures - 1)
      const isLast = failures >= attempts || performance.now() + delayMs > deadline || signal?.aborted
      if (isLast || mayPass?.(error) === false) throw error
      onFailure?.(error, failures, delayMs)
      if (!(await pause(delayMs, signal))) throw error
    }
  }
}
