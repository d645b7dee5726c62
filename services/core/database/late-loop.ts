/** Interval in ms at which the delay of the event loop is measured. */
const TICK_MS = 200
/**
 * Fraction of the duration of an operation. If the event loop was blocked for this fraction or longer, a timeout of the
 * operation does not mean that the server is slow.
 */
const TELLING_PART = 1 / 4

/** Messages of `pg` for timeouts that this process measures. Timeouts of the server have other messages. */
const OWN_LIMIT =
  /^timeout expired|^timeout exceeded when trying to connect|due to connection timeout|^Query read timeout/

/** Total delay of the event loop up to the last tick, in ms. */
let lateMs = 0
let tickedAtMs = 0
let timer: NodeJS.Timeout | undefined

/** Total delay of the event loop up to now, in ms. */
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

/** Error that `answerWithin` throws after its timeout. */
class NoAnswerError extends Error {}

/**
 * Runs work again if it failed by a local timeout while the event loop was blocked. Node.js runs timers before it reads
 * data that has arrived meanwhile, so such a timeout does not mean that the server is slow.
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
 * Runs work with a timeout. If the event loop was blocked before the timeout, runs the work again with a new timeout.
 * @param what name of the operation, for the error.
 * @throws NoAnswerError.
 */
export function answerWithin<T>(work: () => Promise<T>, ms: number, what: string): Promise<T> {
  return repeatWhileLate(() => {
    const answer = work()
    // After the timeout nobody awaits the result, so a late rejection needs a handler.
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
