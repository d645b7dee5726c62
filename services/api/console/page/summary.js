import { byId, create, setText, show } from './dom.js'
import { countOf, formatAge, formatBytes, formatDuration, formatWhole } from './format.js'

/** @typedef {import('../data.ts').ConsoleData} ConsoleData */
/** @typedef {import('../data.ts').ReaderView} ReaderView */

/**
 * Greatest lag, in blocks, at which a reader counts as being at the head: 4 blocks arrive between two updates of the
 * page.
 */
const HEAD_BLOCKS = 4
const words = { healthy: 'Healthy', degraded: 'Degraded', unhealthy: 'Unhealthy' }
const tones = { healthy: 'good', degraded: 'warn', unhealthy: 'bad' }

/**
 * Shows the page header, the four figures below the header, and the served namespaces.
 * @param {ConsoleData} data
 */
export function showSummary(data) {
  const { chain, health } = data
  setText(byId('chain-name'), chain.demo ? 'Demo chain' : chain.name)
  document.title = `Pronghorn: ${chain.demo ? 'demo chain' : chain.name}`
  show(byId('demo'), chain.demo)
  const word = health.catching_up ? 'Catching up' : words[health.status]
  const tone = health.catching_up ? 'warn' : tones[health.status]
  showChip(health.catching_up ? 'catching-up' : health.status, word)
  const isIndexing = data.readers.some(isCatchingUp)
  setFigure('health', word, tone)
  setNote('health', health.reasons.length === 0 ? 'Everything works' : troubleOf(data))
  if (chain.head_block === 0) {
    setFigure('head', 'Unknown')
    setNote('head', 'No node has answered yet')
  } else {
    setFigure('head', formatWhole(chain.head_block))
    const ageMs = chain.head_time === null ? null : Math.max(0, data.time - chain.head_time)
    setNote('head', ageMs === null ? 'The time of the block is not known yet' : formatAge(ageMs / 1_000))
  }
  showLag(data.readers, isIndexing)
  const { database } = data
  setFigure('database', database ? formatBytes(Number(database.total_bytes)) : '…')
  setNote('database', database ? countOf(database.tables.length, 'table') : 'Being measured')
}

/** Shows that the api does not answer. */
export function showUnavailable() {
  showChip('unavailable', 'No answer')
}

/**
 * @param {string} status
 * @param {string} word
 */
function showChip(status, word) {
  byId('health-chip').dataset.status = status
  setText(byId('health-word'), word)
}

/**
 * @param {readonly ReaderView[]} readers
 * @param {boolean} isIndexing
 */
function showLag(readers, isIndexing) {
  const furthest = readers.reduce((worst, reader) => Math.max(worst, reader.lag_blocks), 0)
  if (readers.length === 0) {
    setFigure('lag', 'Unknown')
    setNote('lag', 'No reader has committed a block yet')
    return
  }
  if (readers.some(({ state }) => state === 'connecting')) {
    setFigure('lag', 'Unknown', 'warn')
    setNote('lag', 'No connection to the chain node')
    return
  }
  const worst = readers.find(({ lag_blocks }) => lag_blocks === furthest)
  setFigure('lag', countOf(furthest, 'block'), furthest <= HEAD_BLOCKS ? 'good' : isIndexing ? '' : 'warn')
  const eta = worst?.eta_seconds ?? null
  if (furthest <= HEAD_BLOCKS) setNote('lag', 'At the head')
  else setNote('lag', eta === null ? 'Time left not known yet' : `${formatDuration(eta)} left`)
}

/** @param {ReaderView} reader */
function isCatchingUp({ state }) {
  return state === 'catching-up'
}

/**
 * Returns a sentence with each problem and its duration, and the command that helps.
 * @param {ConsoleData} data
 */
function troubleOf({ health, time }) {
  const text = health.reasons
    .map((reason, place) => {
      const since = health.since[place] ?? null
      return since === null ? reason : `${reason} (for ${formatDuration(Math.max(0, time - since) / 1_000)})`
    })
    .join('; ')
  // The script exists in the appliance only. A key-value store in memory means that `npm start` runs the service.
  const help =
    health.catching_up || health.kvstore_kind === 'memory'
      ? ''
      : '. Run scripts/doctor: it names the command that helps'
  return text.charAt(0).toUpperCase() + text.slice(1) + help
}

/**
 * @param {string} name
 * @param {string} text
 * @param {string} [tone]
 */
function setFigure(name, text, tone = '') {
  const figure = byId(`tile-${name}`)
  setText(figure, text)
  figure.dataset.tone = tone
}

/**
 * @param {string} name
 * @param {string} text
 */
function setNote(name, text) {
  setText(byId(`tile-${name}-note`), text)
}

let servedText = ''

/**
 * Shows the served namespaces, and the provider and the version of the service.
 * @param {ConsoleData} data
 */
export function showServed({ namespaces, provider, version, revision, chain, state_port }) {
  const text = JSON.stringify([namespaces, provider, version, revision, chain.chain_id, state_port])
  if (text === servedText) return
  servedText = text
  const link = byId('state-link')
  show(link, state_port !== null)
  if (state_port !== null)
    link.setAttribute('href', `${location.protocol}//${location.hostname}:${state_port}/v0/docs`)
  byId('served').replaceChildren(
    ...namespaces.map(({ name, account, paths }) =>
      create('li', {}, [
        create('h3', { text: name }),
        create('p', { class: 'quiet', text: `Contract ${account}` }),
        create('p', {}, paths.flatMap(pathLink)),
      ]),
    ),
  )
  const parts = [`Pronghorn ${version}`, revision === null ? '' : `revision ${revision}`]
  const known = parts.filter((part) => part !== '').join(', ')
  byId('about').replaceChildren(
    ...(provider.name === '' || provider.name === 'Pronghorn'
      ? []
      : [providerNode(provider), document.createTextNode(' · ')]),
    document.createTextNode(`${known} · chain ${chain.chain_id}`),
  )
}

/**
 * @param {string} path
 * @param {number} place
 * @returns {Node[]}
 */
function pathLink(path, place) {
  const link = create('a', { attributes: { href: `${path.slice(1)}/v1/config` } }, [
    create('code', { text: path }),
  ])
  return place === 0 ? [link] : [document.createTextNode(', '), link]
}

/**
 * @param {ConsoleData['provider']} provider
 * @returns {Node}
 */
function providerNode({ name, url }) {
  // The operator sets the URL; only an http or https URL becomes a link.
  if (!/^https?:\/\//.test(url)) return document.createTextNode(name)
  return create('a', { text: name, attributes: { href: url, rel: 'noreferrer' } })
}
