/** How often the lateness of the event loop is measured, ms. */
const TICK_MS = 200
/** Part of the time of a piece of work during which the loop stood still, from which on its time limit says nothing. */
const TELLING_PART = 1 / 4

/** What `pg` says when a time limit of this process has passed, and not one of the server. */
const OWN_LIMIT =
  /^timeout expired|^timeout exceeded when trying to connect|due to connection timeout|^Query read timeout/

/** Milliseconds that the event loop was late, all in all, up to the last tick. */
let lateMs = 0
let tickedAtMs = 0
let timer: NodeJS.Timeout | undefined

/** Milliseconds that the event loop has been late until now, all in all. */
function totalLateMs(): number {
  return lateMs + Math.max(0, performance.now() - tickedAtMs - TICK_MS)
}

function watch(): void {
  if (timer) return
  tickedAtMs = performance.now()
  timer = setInterval(() => {
    lateMs = totalLateMs()
    tickedAtMs = performance.now()
  }, TICK_MS).unref()
}

/** An answer that did not come within a time limit of this process. */
class NoAnswerError extends Error {}

/**
 * Repeats work that fails by a time limit of this process while the event loop stood still: timers run before what has
 * arrived meanwhile is read, so such a failure says nothing about the other side.
 */
export async function repeatWhileLate<T>(work: () => Promise<T>): Promise<T> {
  watch()
  for (;;) {
    const startedMs = performance.now()
    const lateBeforeMs = totalLateMs()
    try {
      return await work()
    } catch (error) {
      const isLate = totalLateMs() - lateBeforeMs > (performance.now() - startedMs) * TELLING_PART
      if (!isLate || !isOwnLimit(error)) throw error
    }
  }
}

function isOwnLimit(error: unknown): boolean {
  return error instanceof NoAnswerError || (error instanceof Error && OWN_LIMIT.test(error.message))
}

/**
 * The result of work, if it comes within so many milliseconds in which the event loop runs.
 * @param what takes the time, for the error.
 * @throws NoAnswerError.
 */
export function answerWithin<T>(work: () => Promise<T>, ms: number, what: string): Promise<T> {
  return repeatWhileLate(() => {
    const answer = work()
    // A late answer is no longer awaited.
    answer.catch(() => undefined)
    let limit: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      limit = setTimeout(() => {
        reject(new NoAnswerError(`${what} did not answer within ${ms} ms`))
      }, ms)
    })
    return Promise.race([answer, late]).finally(() => {
      clearTimeout(limit)
    })
  })
}
