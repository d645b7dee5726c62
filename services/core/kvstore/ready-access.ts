/** How long work that cannot wait waits. */
export interface AccessTiming {
  /** A call that takes longer counts as failed. */
  readonly deadlineMs: number
  /** For this long after a failure every call fails at once; then one call tries. */
  readonly restMs: number
}

const defaultTiming: AccessTiming = { deadlineMs: 250, restMs: 1_000 }

/**
 * Access to a store for work that continues without it: resolves to undefined when the store fails or is slow, and at
 * once while it is known to be. Only one call at a time waits for a store that may be unavailable.
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
