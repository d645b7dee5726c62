import { byId, create, setText, show } from './dom.js'
import { describeEvent, isStopping } from './event-text.js'
import { formatAge, formatWhole } from './format.js'

/** @typedef {import('../data.ts').ConsoleData} ConsoleData */
/** @typedef {import('./event-text.js').EventLine} EventLine */

const SHOWN = 60
/** Maximum number of events that wait to be shown, because the list is paused or the next redraw is pending. */
const MOST_WAITING = 500
/** If the page was hidden for longer, ms, it shows only new events and does not resume from its cursor. */
const RESUME_MS = 300_000
/**
 * Wait before the next attempt after an answer that is no event stream, ms. The wait doubles up to LONGEST_RETRY_MS.
 */
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000
const UNAVAILABLE = 'Live events are not available.'

/**
 * Shows live events. At most one stream is open, and none while the page is hidden, because browsers limit the
 * connections to a host.
 */
export function createEvents() {
  const list = byId('events')
  const choice = byId('events-choice')
  const pause = byId('events-pause')
  let served = ''
  let isPaused = false
  let isCatchingUp = false
  /** @type {string | undefined} */
  let path
  /** @type {EventSource | undefined} */
  let source
  let waiting = /** @type {{ line: EventLine, atMs: number }[]} */ ([])
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let retry
  let cursor = ''
  let closedMs = 0
  let retryMs = FIRST_RETRY_MS
  let note = ''
  let isDrawing = false

  const showNote = () => {
    const text = note === '' && list.childElementCount === 0 ? waitingText(isCatchingUp) : note
    setText(byId('events-note'), text)
    show(byId('events-note'), text !== '')
  }
  const draw = () => {
    isDrawing = false
    if (isPaused) {
      setText(pause, waiting.length === 0 ? 'Resume' : `Resume (${formatWhole(waiting.length)} new)`)
      return
    }
    for (const { line, atMs } of waiting.splice(0)) list.prepend(rowOf(line, atMs))
    while (list.childElementCount > SHOWN) list.lastElementChild?.remove()
    showNote()
  }
  /** @param {MessageEvent} message */
  const take = (message) => {
    const line = describeEvent(String(message.data))
    cursor = message.lastEventId === '' ? cursor : message.lastEventId
    if (!line) return
    waiting.push({ line, atMs: Date.now() })
    if (waiting.length > MOST_WAITING) waiting.shift()
    if (isDrawing) return
    isDrawing = true
    requestAnimationFrame(draw)
  }
  const close = () => {
    clearTimeout(retry)
    source?.close()
    source = undefined
    closedMs = Date.now()
  }
  const open = () => {
    close()
    if (path === undefined) return
    const from = cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`
    const opened = new EventSource(`${path.slice(1)}${from}`)
    source = opened
    for (const name of ['event', 'fork', 'gap', 'failure']) opened.addEventListener(name, take)
    // A server that stops sends a notice with the code STOPPING, then ends the stream; the browser resumes from the
    // cursor. After any other failure the cursor may be the cause, so the page resumes without the cursor.
    opened.addEventListener('failure', ({ data }) => {
      if (isStopping(String(data))) return
      close()
      cursor = ''
      retry = setTimeout(open, LONGEST_RETRY_MS)
    })
    opened.addEventListener('position', ({ lastEventId }) => {
      cursor = lastEventId
    })
    opened.addEventListener('open', () => {
      retryMs = FIRST_RETRY_MS
      note = ''
      showNote()
    })
    opened.addEventListener('error', () => {
      if (source !== opened) return
      const isOver = opened.readyState === EventSource.CLOSED
      note = isOver ? UNAVAILABLE : 'Connecting'
      // The browser does not reconnect after an answer that is no event stream, such as an error page of a proxy.
      if (isOver) {
        retry = setTimeout(open, retryMs)
        retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)
      }
      showNote()
    })
  }
  /** @param {string} chosen */
  const choose = (chosen) => {
    path = chosen
    cursor = ''
    waiting = []
    list.replaceChildren()
    for (const button of choice.querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(button.dataset.path === chosen))
    }
    note = 'Connecting'
    showNote()
    open()
  }
  pause.addEventListener('click', () => {
    isPaused = !isPaused
    pause.setAttribute('aria-pressed', String(isPaused))
    setText(pause, isPaused ? 'Resume' : 'Pause')
    draw()
  })
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      close()
      return
    }
    if (Date.now() - closedMs > RESUME_MS) cursor = ''
    open()
  })
  return {
    /** @param {ConsoleData} data */
    update({ namespaces, readers }) {
      isCatchingUp = readers.some(({ state }) => state === 'catching-up')
      const live = namespaces.flatMap(({ name, events }) => (events === null ? [] : [{ name, events }]))
      const text = JSON.stringify(live)
      if (text === served) {
        showNote()
        return
      }
      served = text
      choice.replaceChildren(
        ...live.map(({ name, events }) => {
          const button = create('button', { text: name, attributes: { type: 'button', 'data-path': events } })
          button.addEventListener('click', () => {
            choose(events)
          })
          return button
        }),
      )
      show(choice, live.length > 1)
      show(pause, live.length > 0)
      const [first] = live
      if (first) {
        choose(first.events)
        return
      }
      close()
      note = UNAVAILABLE
      showNote()
    },
  }
}

/** @param {boolean} isCatchingUp */
function waitingText(isCatchingUp) {
  return isCatchingUp
    ? 'No events yet. Publishing starts when the reader has reached the head of the chain.'
    : 'No events yet. New blocks with events appear here.'
}

/**
 * @param {EventLine} line
 * @param {number} atMs
 */
function rowOf({ title, kind, detail, block, timeMs }, atMs) {
  const what = create('span', { class: 'what', text: title })
  what.dataset.kind = kind
  const when = timeMs === undefined ? '' : `, ${formatAge(Math.max(0, atMs - timeMs) / 1_000)}`
  const place = block === undefined ? '' : `block ${formatWhole(block)}`
  return create('li', {}, [
    what,
    create('span', { class: 'block', text: place, attributes: { title: `${place}${when}` } }),
    ...(detail === ''
      ? []
      : [create('span', { class: 'detail', text: detail, attributes: { title: detail } })]),
  ])
}
