import { byId, create, setText, show } from './dom.js'
import { describeEvent, isStopping } from './event-text.js'
import { formatAge, formatWhole } from './format.js'

/** @typedef {import('../data.ts').ConsoleData} ConsoleData */
/** @typedef {import('./event-text.js').EventLine} EventLine */

const SHOWN = 60
/** Events that are shown later: the list is paused, or the next redraw is pending. */
const MOST_WAITING = 500
/** After a longer time in the background the page shows new events only, ms. */
const RESUME_MS = 300_000
/** After an answer that was no stream, ms; then twice as late each time. */
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000
const UNAVAILABLE = 'Live events are not available.'

/** Live events. One stream at a time, and none while the page is hidden: browsers open few connections to a host.
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
    // A server that stops ends the stream after its notice, and the browser resumes from the cursor. Otherwise the cursor
    // may be the cause.
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
      // The browser reconnects by itself, but not after an answer that was no stream, such as one of a proxy.
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
    : 'No events yet. They appear as blocks bring them.'
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
