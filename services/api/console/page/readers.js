import { createChart } from './chart.js'
import { byId, create, setText, show } from './dom.js'
import { formatAge, formatBytes, formatDuration, formatTime, formatRate, formatWhole } from './format.js'

/** @typedef {import('../data.ts').ConsoleData} ConsoleData */
/** @typedef {import('../data.ts').HistoryRange} HistoryRange */
/** @typedef {import('../data.ts').ReaderView} ReaderView */

/**
 * Greatest lag, in blocks, at which a reader counts as being at the head: 4 blocks arrive between two updates of the
 * page.
 */
const HEAD_BLOCKS = 4
/** A reader whose last heartbeat is older has stopped or hangs, seconds. */
const SILENT_SECONDS = 30
const stateWords = /** @type {Readonly<Record<string, string>>} */ ({
  connecting: 'connecting',
  'catching-up': 'catching up',
  live: 'live',
  stopped: 'stopped',
  done: 'at stop_block',
})

/** Shows the position and the speed of each reader. */
export function createReaders() {
  const list = byId('readers')
  const empty = byId('readers-empty')
  const cards = /** @type {Map<string, ReturnType<typeof createCard>>} */ (new Map())
  return {
    /**
     * @param {ConsoleData} data
     * @param {HistoryRange} range
     */
    update({ time, readers, health, namespaces }, range) {
      for (const [name, card] of cards) {
        if (readers.some((reader) => reader.name === name)) continue
        card.element.remove()
        cards.delete(name)
      }
      for (const reader of readers) {
        const card = cards.get(reader.name) ?? createCard(reader.name)
        if (!cards.has(reader.name)) {
          cards.set(reader.name, card)
          list.append(card.element)
        }
        card.update(reader, range, time)
      }
      const accounts = namespaces.map(({ account }) => account).join(', ')
      setText(
        empty,
        health.database === 'unavailable'
          ? 'The readers are unknown while the database is unavailable.'
          : `No reader has committed a block yet. Served contracts: ${accounts}.`,
      )
      show(empty, readers.length === 0)
    },
  }
}

/** @param {string} name */
function createCard(name) {
  const id = `reader-${name.replace(/[^A-Za-z0-9_-]/g, '-')}`
  const state = create('span', { class: 'state' })
  const contracts = create('span', { class: 'contracts' })
  contracts.style.display = 'contents'
  const fill = create('div')
  const progress = create(
    'div',
    {
      class: 'progress',
      attributes: {
        role: 'progressbar',
        'aria-valuemin': '0',
        'aria-valuemax': '100',
        'aria-labelledby': id,
      },
    },
    [fill],
  )
  const facts = createFacts(['Block', 'Target', 'Speed', 'Time left', 'Block time', 'Last commit'])
  const nodes = createNodes()
  const chart = createChart(name)
  const head = create('div', { class: 'reader-head' }, [
    create('h3', { text: name, attributes: { id } }),
    state,
    contracts,
  ])
  const element = create('article', { class: 'reader', attributes: { 'aria-labelledby': id } }, [
    head,
    progress,
    facts.element,
    nodes.element,
    chart.element,
  ])
  let contractsText = ''
  return {
    element,
    /**
     * @param {ReaderView} reader
     * @param {HistoryRange} range
     * @param {number} now time of the server, ms since 1970
     */
    update(reader, range, now) {
      const isSilent = !reader.is_done && (reader.seconds_since_heartbeat ?? Infinity) > SILENT_SECONDS
      const mode = reader.is_done ? 'done' : isSilent ? 'stopped' : (reader.state ?? 'connecting')
      state.dataset.state = mode
      element.dataset.state = mode
      setText(state, isSilent ? 'silent' : (stateWords[mode] ?? mode))
      const text = JSON.stringify(reader.contracts)
      if (text !== contractsText) contracts.replaceChildren(...reader.contracts.map(contractChip))
      contractsText = text
      const percent = percentOf(reader)
      fill.style.width = `${percent}%`
      progress.setAttribute('aria-valuenow', percent.toFixed(1))
      progress.setAttribute('aria-valuetext', `block ${reader.block_num} of ${reader.target_block}`)
      facts.set('Block', formatWhole(reader.block_num))
      facts.set('Target', `${formatWhole(reader.target_block)} (${percent.toFixed(percent < 100 ? 1 : 0)} %)`)
      facts.set(
        'Speed',
        reader.blocks_per_second === null ? '–' : `${formatRate(reader.blocks_per_second)} blocks/s`,
      )
      facts.set('Time left', timeLeft(reader))
      facts.set('Block time', formatTime(reader.block_time, now))
      facts.set(
        'Last commit',
        reader.seconds_since_commit === null ? '–' : formatAge(reader.seconds_since_commit),
      )
      nodes.update(reader.nodes)
      chart.update(reader.history, range)
    },
  }
}

/**
 * Shows the chain nodes of a reader, one row for each node. The table is hidden until the reader has reported a node.
 */
function createNodes() {
  const rows = create('tbody')
  const titles = ['Node', 'State', 'Receiving', 'Behind', 'Faults']
  const element = create('table', { class: 'nodes' }, [
    create('thead', {}, [
      create(
        'tr',
        {},
        titles.map((text) => create('th', { text, attributes: { scope: 'col' } })),
      ),
    ]),
    rows,
  ])
  return {
    element,
    /** @param {ReaderView['nodes']} nodes */
    update(nodes) {
      show(element, nodes.length > 0)
      while (rows.children.length > nodes.length) rows.lastElementChild?.remove()
      nodes.forEach((node, place) => {
        const row =
          rows.children[place] ??
          rows.appendChild(
            create(
              'tr',
              {},
              titles.map(() => create('td')),
            ),
          )
        const texts = [
          String(place + 1),
          node.state,
          node.bytes_per_second === 0 ? '–' : `${formatBytes(node.bytes_per_second)}/s`,
          node.blocks_behind === null ? '–' : formatWhole(node.blocks_behind),
          formatWhole(node.faults),
        ]
        texts.forEach((text, column) => {
          const cell = row.children[column]
          if (cell instanceof HTMLElement) setText(cell, text)
        })
      })
    },
  }
}

/** @param {ReaderView['contracts'][number]} contract */
function contractChip({ family, account }) {
  return create('span', { class: 'contract' }, [
    create('span', { text: `${family} ` }),
    document.createTextNode(account),
  ])
}

/**
 * Progress of a reader in percent of the blocks from its start block, which may be any block of the chain.
 * @param {ReaderView} reader
 */
function percentOf({ state, start_block, block_num, target_block }) {
  const all = target_block - start_block + 1
  if (all <= 0 || (state === 'live' && target_block - block_num <= HEAD_BLOCKS)) return 100
  const done = Math.min(100, Math.max(0, ((block_num - start_block + 1) / all) * 100))
  // With many blocks, a share of nearly 100 % would be rounded to 100 %.
  return block_num < target_block ? Math.min(done, 99.9) : done
}

/** @param {ReaderView} reader */
function timeLeft({ state, is_done: isDone, lag_blocks, eta_seconds }) {
  if (isDone) return 'At its stop_block'
  if (state === 'connecting') return 'Not known'
  if (lag_blocks <= HEAD_BLOCKS && state === 'live') return 'At the head'
  return eta_seconds === null ? 'Not known yet' : formatDuration(eta_seconds)
}

/** @param {readonly string[]} names */
function createFacts(names) {
  const values = new Map(names.map((name) => [name, create('dd')]))
  const element = create(
    'dl',
    { class: 'facts' },
    [...values].map(([name, value]) => create('div', {}, [create('dt', { text: name }), value])),
  )
  return {
    element,
    /**
     * @param {string} name
     * @param {string} text
     */
    set(name, text) {
      const value = values.get(name)
      if (value) setText(value, text)
    },
  }
}
