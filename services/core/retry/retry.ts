import { backoffDelayMs } from './backoff.ts'
import type { BackoffSettings } from './backoff.ts'
import { pause } from './pause.ts'

/** Delays between attempts, and when there is no further attempt. */
export interface RetrySettings extends BackoffSettings {
  /** Attempts in all. Default: no limit. */
  readonly attempts?: number
  /** No attempt begins later than this after the first. Default: no limit. */
  readonly withinMs?: number
  /** Ends the waiting; the last error is thrown then. */
  readonly signal?: AbortSignal
  /** Whether another attempt may succeed after this error. Default: after every one. */
  readonly mayPass?: (error: unknown) => boolean
  /** Called before each wait, with the failures so far. */
  readonly onFailure?: (error: unknown, failures: number, delayMs: number) => void
}

/**
 * Runs a task until it succeeds.
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
