/** Time limits for calls of the key-value store by code that also works without the store. */
export interface AccessTiming {
  /** Maximum duration of a call in ms; a longer call counts as failed. */
  readonly deadlineMs: number
  /** Pause in ms after a failure: calls fail at once, then one call tries again. */
  readonly restMs: number
}

const defaultTiming: AccessTiming = { deadlineMs: 250, restMs: 1_000 }

/**
 * Wraps store calls for code that works without the store (circuit breaker). A call resolves to undefined if the store
 * fails or is slow, and at once while the store is known to fail. After the pause, only one call at a time tries the
 * store again.
 */
export function createReadyAccess(
  timing: Partial<AccessTiming> = {},
): <T>(task: () => Promise<T>) => Promise<T | undefined> {
  const { deadlineMs, restMs } = { ...defaultTiming, ...timing }
  let restUntil = 0
  return async (task) => {
    const now = performance.now()
    if (now < restUntil) return undefined
    if (restUntil > 0) restUntil = now + deadlineMs
    const answer = await beforeDeadline(task(), deadlineMs)
    restUntil = answer === undefined ? performance.now() + restMs : 0
    return answer?.value
  }
}

async function beforeDeadline<T>(answer: Promise<T>, deadlineMs: number): Promise<{ value: T } | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, deadlineMs, undefined)
    answer.then(
      (value) => {
        clearTimeout(timer)
        resolve({ value })
      },
      () => {
        clearTimeout(timer)
        resolve(undefined)
      },
    )
  })
}
