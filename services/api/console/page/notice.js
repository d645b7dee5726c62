import { byId, setText, show } from './dom.js'
import { formatClock } from './format.js'

/** @typedef {import('./feed.js').FeedResult} FeedResult */
/** @typedef {import('../data.ts').ConsoleData} ConsoleData */

/** Shows a notice at the top: the server does not answer, an error, an unavailable database.
 * @param {() => void} askNow
 */
export function createNotice(askNow) {
  const notice = byId('notice')
  const text = byId('notice-text')
  const action = byId('notice-action')
  const main = byId('main')
  let seenMs = 0
  let reloads = false
  action.addEventListener('click', () => {
    if (reloads) location.reload()
    else askNow()
  })
  return {
    /** @param {FeedResult} result */
    update(result) {
      if (result.kind === 'data') seenMs = Date.now()
      const problem = result.kind === 'data' ? problemOf(result.data) : failureOf(result, seenMs)
      reloads = result.kind === 'strange'
      if (problem) setText(text, problem)
      setText(action, reloads ? 'Reload' : 'Try now')
      notice.dataset.kind = result.kind === 'data' ? 'warn' : 'error'
      show(action, result.kind !== 'data')
      show(notice, problem !== undefined)
      main.toggleAttribute('data-stale', problem !== undefined)
    },
  }
}

/**
 * @param {ConsoleData} data
 * @returns {string | undefined}
 */
function problemOf({ health }) {
  if (health.database === 'up') return undefined
  if (health.answers)
    return 'The primary database is unavailable. A replica answers requests; this page shows the last known state.'
  return 'The database is unavailable. Requests are refused until it is available again; this page shows the last known state.'
}

/**
 * @param {Exclude<FeedResult, { kind: 'data' }>} result
 * @param {number} seenMs
 * @returns {string}
 */
function failureOf(result, seenMs) {
  const last = seenMs === 0 ? '' : ` This page shows the state of ${formatClock(seenMs)}.`
  if (result.kind === 'unavailable') return `The api does not answer. Retrying automatically.${last}`
  if (result.kind === 'failed')
    return `The api answered with an error (status ${result.status}). Retrying automatically.${last}`
  return `The api answered with something that this page does not understand; it may have been updated.${last}`
}
