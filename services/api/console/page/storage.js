import { byId, create, setText, show } from './dom.js'
import { formatAge, formatBytes, formatCount } from './format.js'

/** @typedef {import('../data.ts').ConsoleData} ConsoleData */
/** @typedef {import('../data.ts').TableView} TableView */

/** Number of tables that the page shows before the user chooses "Show all". */
const FIRST = 10

/** Shows the sizes of the database tables, largest first. */
export function createStorage() {
  const more = byId('sizes-more')
  let isWhole = false
  let shownText = ''
  /** @type {ConsoleData | undefined} */
  let last
  const draw = () => {
    const database = last?.database
    show(byId('sizes'), database != null)
    show(byId('sizes-key'), database != null)
    show(byId('storage-note'), database == null)
    if (!last || !database) {
      const isUnavailable = last?.health.answers === false
      setText(byId('storage-note'), isUnavailable ? 'The database is unavailable.' : 'Being measured')
      return
    }
    setText(
      byId('storage-age'),
      `measured ${formatAge(Math.max(0, last.time - database.measured_at) / 1_000)}`,
    )
    const text = `${database.measured_at} ${isWhole}`
    if (text === shownText) return
    shownText = text
    const { tables } = database
    const shown = isWhole ? tables : tables.slice(0, FIRST)
    const largest = Math.max(1, ...tables.map(bytesOf))
    byId('sizes-body').replaceChildren(...shown.flatMap((table) => rowsOf(table, largest)))
    show(more, tables.length > FIRST)
    setText(more, isWhole ? `Show the ${FIRST} largest` : `Show all ${tables.length} tables`)
    more.setAttribute('aria-expanded', String(isWhole))
  }
  more.addEventListener('click', () => {
    isWhole = !isWhole
    draw()
  })
  return {
    /** @param {ConsoleData} data */
    update(data) {
      last = data
      draw()
    },
  }
}

/** @param {TableView} table */
function bytesOf({ table_bytes, index_bytes }) {
  return Number(table_bytes) + Number(index_bytes)
}

/**
 * @param {TableView} table
 * @param {number} largest
 */
function rowsOf(table, largest) {
  const name = create('th', { attributes: { scope: 'row' } }, [
    create('span', { class: 'schema', text: `${table.schema}.` }),
    document.createTextNode(table.name),
  ])
  const rows = table.rows === null ? '–' : `≈ ${formatCount(Number(table.rows))}`
  const bar = create('div', { class: 'size-bar' }, [
    part('table', Number(table.table_bytes), largest),
    part('index', Number(table.index_bytes), largest),
  ])
  return [
    create('tr', {}, [
      name,
      create('td', { class: 'number', text: rows }),
      create('td', { class: 'number', text: formatBytes(bytesOf(table)) }),
    ]),
    create('tr', { class: 'bar', attributes: { 'aria-hidden': 'true' } }, [
      create('td', { attributes: { colspan: '3' } }, [bar]),
    ]),
  ]
}

/**
 * @param {string} name
 * @param {number} bytes
 * @param {number} largest
 */
function part(name, bytes, largest) {
  const element = create('div')
  element.dataset.part = name
  element.style.width = `${(bytes / largest) * 100}%`
  return element
}
