/** @typedef {import('../data.ts').ConsoleData} ConsoleData */
/** @typedef {import('../data.ts').HistoryRange} HistoryRange */
/**
 * @typedef {{ kind: 'data', data: ConsoleData }
 *   | { kind: 'unavailable' }
 *   | { kind: 'failed', status: number }
 *   | { kind: 'strange' }} FeedResult
 */

const EVERY_MS = 2_000
/** Interval of the requests while the table sizes are being measured, ms. */
const SOON_MS = 500
const TIMEOUT_MS = 10_000
const LONGEST_PAUSE_MS = 15_000

/**
 * Polls the data while the page is visible, less often while the server does not answer.
 * @param {{ range: () => HistoryRange, onResult: (result: FeedResult) => void }} options
 * @returns {{ askNow: () => void }}
 */
export function startFeed({ range, onResult }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let failures = 0
  let turn = 0
  const ask = async () => {
    clearTimeout(timer)
    const mine = ++turn
    const result = await askOnce(range())
    // A newer request is running: ignore this result, because the newer one will replace it.
    if (mine !== turn) return
    failures = result.kind === 'data' ? 0 : failures + 1
    onResult(result)
    if (document.hidden) return
    const isMeasuring = result.kind === 'data' && result.data.database === null && result.data.health.answers
    const pauseMs = isMeasuring ? SOON_MS : EVERY_MS * 2 ** Math.max(0, failures - 1)
    timer = setTimeout(() => void ask(), Math.min(pauseMs, LONGEST_PAUSE_MS))
  }
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) clearTimeout(timer)
    else void ask()
  })
  addEventListener('online', () => void ask())
  void ask()
  return { askNow: () => void ask() }
}

/**
 * @param {HistoryRange} range
 * @returns {Promise<FeedResult>}
 */
async function askOnce(range) {
  /** @type {Response} */
  let response
  try {
    response = await fetch(`status/data.json?history=${range}`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      cache: 'no-store',
    })
  } catch {
    return { kind: 'unavailable' }
  }
  // A proxy sends these statuses if the server is unavailable.
  if ([502, 503, 504].includes(response.status)) return { kind: 'unavailable' }
  if (!response.ok) return { kind: 'failed', status: response.status }
  try {
    /** @type {unknown} */
    const body = await response.json()
    const data = readData(body)
    return data ? { kind: 'data', data } : { kind: 'strange' }
  } catch {
    return { kind: 'strange' }
  }
}

/**
 * The data of an answer; undefined if the answer does not have the members that this version of the page expects.
 * @param {unknown} body
 * @returns {ConsoleData | undefined}
 */
function readData(body) {
  if (typeof body !== 'object' || body === null || !('data' in body)) return undefined
  const { data } = body
  if (typeof data !== 'object' || data === null) return undefined
  const isKnown = 'chain' in data && 'health' in data && 'readers' in data && Array.isArray(data.readers)
  return isKnown ? /** @type {ConsoleData} */ (data) : undefined
}
