/* Notice at the top of the page: the state of the service, and how long the state has lasted. */

import { countOf, formatDuration, formatWhole } from './format.js'

/** @typedef {import('../data.ts').ConsoleData} ConsoleData */
/** @typedef {import('../data.ts').ReaderView} ReaderView */
/** @typedef {'database' | 'stopped' | 'node' | 'fork' | 'catching-up'} StateKind */
/**
 * `text` is constant while the state lasts, so that screen readers announce the text once. `note` contains the changing
 * details.
 * @typedef {{ kind: StateKind, text: string, note: string, isStale: boolean }} PageState
 */

/** A reader whose last heartbeat is older has stopped or hangs, seconds. */
const SILENT_SECONDS = 30
/**
 * A shorter interruption of the connection to the chain node is not shown, seconds: it ends before a person has read
 * the notice.
 */
const LOST_SECONDS = 5

/**
 * Describes the state of the service and how long the state has lasted. The duration is computed from times of the
 * server, so every open page shows the same duration.
 * @param {ConsoleData} data
 * @returns {PageState | undefined}
 */
export function describeState(data) {
  const found = findState(data)
  if (found === undefined) return undefined
  const { kind, text, facts, seconds } = found
  const since = seconds === null ? [] : [`for ${formatDuration(Math.max(0, seconds))}`]
  return { kind, text, note: [...facts, ...since].join(', '), isStale: kind === 'database' }
}

/** @typedef {{ kind: StateKind, text: string, facts: readonly string[], seconds: number | null }} Found */

/**
 * Finds the most important problem; undefined if the readers are at the head and nothing is wrong.
 * @param {ConsoleData} data
 * @returns {Found | undefined}
 */
function findState(data) {
  return (
    databaseState(data) ??
    first(data.readers, stoppedState) ??
    first(data.readers, nodeState) ??
    first(data.readers, (reader) => forkState(reader, data.time)) ??
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
function databaseState({ health, time }) {
  if (health.database === 'up') return undefined
  const text = health.answers
    ? 'The primary database is unavailable. A replica answers requests; this page shows the last known state.'
    : 'The database is unavailable. Requests are refused until it is available again; this page shows the last known state.'
  return { kind: 'database', text, facts: [], seconds: secondsSince(health.database_since, time) }
}

/**
 * @param {ReaderView} reader
 * @returns {Found | undefined}
 */
function stoppedState(reader) {
  const { name, state, is_done: isDone, block_num, seconds_since_heartbeat: silent } = reader
  if (isDone || silent === null || (state !== 'stopped' && silent <= SILENT_SECONDS)) return undefined
  const place = `Reader ${name} is stopped at block ${formatWhole(block_num)}`
  return {
    kind: 'stopped',
    text: `${place}. The log of the filler names the cause.`,
    facts: [],
    // Count from the last commit: a reader that restarts and stops again sends new heartbeats, but commits nothing.
    seconds: reader.seconds_since_commit ?? silent,
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
  return {
    kind: 'node',
    text: `${which} blocks to reader ${name}. The reader keeps trying.`,
    facts: [],
    seconds,
  }
}

/**
 * @param {ReaderView} reader
 * @param {number} time
 * @returns {Found | undefined}
 */
function forkState({ name, block_num, fork }, time) {
  if (fork === null) return undefined
  const text = `The chain forked: reader ${name} replaces the blocks up to ${formatWhole(fork.to_block)}.`
  const facts = [`now at block ${formatWhole(block_num)}`]
  return { kind: 'fork', text, facts, seconds: secondsSince(fork.since, time) }
}

/**
 * @param {ConsoleData} data
 * @returns {Found | undefined}
 */
function catchingUpState({ health, readers, time }) {
  if (!health.catching_up) return undefined
  const [worst] = readers.toSorted((a, b) => b.lag_blocks - a.lag_blocks)
  if (worst === undefined || worst.lag_blocks === 0) return undefined
  const began = health.since.find((since) => since !== null) ?? null
  const left = worst.eta_seconds === null ? [] : [`about ${formatDuration(worst.eta_seconds)} left`]
  const facts = [`${countOf(worst.lag_blocks, 'block')} behind the head`, ...left]
  return {
    kind: 'catching-up',
    text: 'Catching up with the chain.',
    facts,
    seconds: secondsSince(began, time),
  }
}

/**
 * @param {number | null} since
 * @param {number} time
 */
function secondsSince(since, time) {
  return since === null ? null : (time - since) / 1_000
}
