/* The state that the notice at the top of the page names, with the time since. Pure but for what it remembers. */

import { countOf, formatDuration, formatWhole } from './format.js'

/** @typedef {import('../data.ts').ConsoleData} ConsoleData */
/** @typedef {import('../data.ts').ReaderView} ReaderView */
/** @typedef {'database' | 'stopped' | 'node' | 'fork' | 'catching-up'} StateKind */
/**
 * `text` stays the same while the state lasts, so that it is announced once; `note` has what changes.
 * @typedef {{ kind: StateKind, text: string, note: string, isStale: boolean }} PageState
 */

/** A reader without a heartbeat for so long has stopped or hangs. */
const SILENT_SECONDS = 30
/** A node that is lost for less time is found again before a person has read about it. */
const LOST_SECONDS = 5

/** Names the state of a page's data; remembers since when it is so, and where each reader was. */
export function createStates() {
  /** @type {Map<string, number>} */
  const heads = new Map()
  let kind = ''
  let sinceMs = 0
  return {
    /**
     * @param {ConsoleData} data
     * @returns {PageState | undefined}
     */
    update(data) {
      const found = findState(data, heads)
      for (const { name, block_num } of data.readers)
        heads.set(name, Math.max(heads.get(name) ?? 0, block_num))
      if (found?.kind !== kind) sinceMs = data.time
      kind = found?.kind ?? ''
      if (found === undefined) return undefined
      const seconds = found.seconds ?? (data.time - sinceMs) / 1_000
      const note = [...found.facts, `for ${formatDuration(seconds)}`].join(', ')
      return { kind: found.kind, text: found.text, note, isStale: found.kind === 'database' }
    },
  }
}

/** @typedef {{ kind: StateKind, text: string, facts: readonly string[], seconds: number | null }} Found */

/**
 * The state that matters most; undefined at the head.
 * @param {ConsoleData} data
 * @param {ReadonlyMap<string, number>} heads
 * @returns {Found | undefined}
 */
function findState(data, heads) {
  return (
    databaseState(data) ??
    first(data.readers, stoppedState) ??
    first(data.readers, nodeState) ??
    first(data.readers, (reader) => forkState(reader, heads)) ??
    catchingUpState(data)
  )
}

/**
 * @param {readonly ReaderView[]} readers
 * @param {(reader: ReaderView) => Found | undefined} stateOf
 */
function first(readers, stateOf) {
  return readers.map(stateOf).find((state) => state !== undefined)
}

/**
 * @param {ConsoleData} data
 * @returns {Found | undefined}
 */
function databaseState({ health }) {
  if (health.database === 'up') return undefined
  const text = health.answers
    ? 'The primary database is unavailable. A replica answers requests; this page shows the last known state.'
    : 'The database is unavailable. Requests are refused until it is available again; this page shows the last known state.'
  return { kind: 'database', text, facts: [], seconds: null }
}

/**
 * @param {ReaderView} reader
 * @returns {Found | undefined}
 */
function stoppedState({ name, state, is_done: isDone, block_num, seconds_since_heartbeat: silent }) {
  if (isDone || silent === null || (state !== 'stopped' && silent <= SILENT_SECONDS)) return undefined
  const place = `Reader ${name} is stopped at block ${formatWhole(block_num)}`
  return {
    kind: 'stopped',
    text: `${place}. The log of the filler names the cause.`,
    facts: [],
    seconds: silent,
  }
}

/**
 * @param {ReaderView} reader
 * @returns {Found | undefined}
 */
function nodeState({ name, state, is_done: isDone, nodes, seconds_since_commit: seconds }) {
  if (isDone || state !== 'connecting' || seconds === null || seconds < LOST_SECONDS) return undefined
  const which =
    nodes.length > 1 ? `None of the ${nodes.length} chain nodes sends` : 'The chain node does not send'
  return { kind: 'node', text: `${which} blocks to reader ${name}. It keeps trying.`, facts: [], seconds }
}

/**
 * @param {ReaderView} reader
 * @param {ReadonlyMap<string, number>} heads
 * @returns {Found | undefined}
 */
function forkState({ name, block_num }, heads) {
  const head = heads.get(name) ?? 0
  if (block_num >= head) return undefined
  const text = `The chain forked: reader ${name} replaces the blocks up to ${formatWhole(head)}.`
  return { kind: 'fork', text, facts: [`now at block ${formatWhole(block_num)}`], seconds: null }
}

/**
 * @param {ConsoleData} data
 * @returns {Found | undefined}
 */
function catchingUpState({ health, readers }) {
  if (!health.catching_up) return undefined
  const [worst] = readers.toSorted((a, b) => b.lag_blocks - a.lag_blocks)
  if (worst === undefined || worst.lag_blocks === 0) return undefined
  const left = worst.eta_seconds === null ? [] : [`about ${formatDuration(worst.eta_seconds)} left`]
  const facts = [`${countOf(worst.lag_blocks, 'block')} behind the head`, ...left]
  return { kind: 'catching-up', text: 'Catching up with the chain.', facts, seconds: null }
}
