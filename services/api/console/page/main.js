import { byId } from './dom.js'
import { createEvents } from './events.js'
import { startFeed } from './feed.js'
import { createNotice } from './notice.js'
import { createReaders } from './readers.js'
import { createStorage } from './storage.js'
import { showUnavailable, showServed, showSummary } from './summary.js'
import { startThemeButton } from './theme-button.js'

/** @typedef {import('../data.ts').HistoryRange} HistoryRange */

/** @type {HistoryRange} */
let range = 'recent'

startThemeButton()
const readers = createReaders()
const storage = createStorage()
const events = createEvents()
const notice = createNotice(() => {
  feed.askNow()
})
const feed = startFeed({
  range: () => range,
  onResult: (result) => {
    notice.update(result)
    if (result.kind !== 'data') {
      showUnavailable()
      return
    }
    const { data } = result
    byId('main').setAttribute('aria-busy', 'false')
    showSummary(data)
    readers.update(data, range)
    storage.update(data)
    events.update(data)
    showServed(data)
  },
})

const rangeButtons = [...document.querySelectorAll('[data-range]')]
for (const button of rangeButtons) {
  button.addEventListener('click', () => {
    range = button.getAttribute('data-range') === 'day' ? 'day' : 'recent'
    for (const each of rangeButtons) each.setAttribute('aria-pressed', String(each === button))
    feed.askNow()
  })
}
