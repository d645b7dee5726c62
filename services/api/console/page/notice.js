import { byId, setText, show } from './dom.js'
import { formatClock } from './format.js'
import { describeState } from './states.js'

/** @typedef {import('./feed.js').FeedResult} FeedResult */

/**
 * Shows a notice at the top of the page: the server does not answer, the server returned an error, or the service is
 * behind the chain or has a problem.
 * @param {() => void} askNow
 */
export function createNotice(askNow) {
  const notice = byId('notice')
  const text = byId('notice-text')
  const note = byId('notice-note')
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
      const state = result.kind === 'data' ? describeState(result.data) : undefined
      const problem = result.kind === 'data' ? state?.text : failureOf(result, seenMs)
      reloads = result.kind === 'strange'
      if (problem) setText(text, problem)
      setText(note, state === undefined ? '' : `(${state.note})`)
      setText(action, reloads ? 'Reload' : 'Try now')
      notice.dataset.kind = result.kind === 'data' ? 'warn' : 'error'
      notice.dataset.state = state?.kind ?? ''
      show(action, result.kind !== 'data')
      show(notice, problem !== undefined)
      main.toggleAttribute('data-stale', result.kind !== 'data' || state?.isStale === true)
    },
  }
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
  return `The api sent an answer that this page cannot read, perhaps because the api was updated. Reload the page.${last}`
}
