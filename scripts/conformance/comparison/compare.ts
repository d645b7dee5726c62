import type { Comparison } from './equal.ts'
import { findDifference } from './equal.ts'
import type { Json, RuleBook } from './rules.ts'
import { combineRules } from './rules.ts'

/** An answer that counts as right, besides the recorded answer. */
export interface Answer {
  readonly status: number
  /** The complete expected body. */
  readonly body?: Json
  /** Members that the body must have with these values; the body may have more members. */
  readonly subset?: Json
}

/**
 * Accepted orders of the records in the list at path `at`. An order is a list of the records' values of the member
 * `key`.
 */
export interface OtherSequences {
  readonly at: string
  readonly key: string
  readonly lists: readonly (readonly Json[])[]
}

/** A recorded request and its answer, with rules for comparing. */
export interface Entry {
  readonly id: string
  readonly route: string
  readonly expect: 'same' | 'better'
  readonly request: {
    readonly method: string
    readonly path: string
    readonly query: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
  readonly status: number
  readonly type: string | null
  readonly location?: string
  readonly body?: Json
  readonly text?: string
  readonly better?: readonly Answer[]
  readonly also?: readonly Answer[]
  readonly alsoIds?: OtherSequences
  readonly rules?: readonly string[]
  readonly note?: string
}

/** Answer of the server under test. */
export interface Reply {
  readonly status: number
  readonly type: string
  readonly location: string | undefined
  readonly text: string
}

/**
 * Result of a comparison. `same`, `better` and `also`: the answer is right. `copied`: the answer reproduces a
 * recorded defect. `wrong`: anything else.
 */
export interface Verdict {
  readonly result: 'same' | 'better' | 'also' | 'copied' | 'wrong'
  readonly difference?: string
}

/** Compares an answer with the recorded one, by the comparison rules of the recorded requests. */
export function judge(entry: Entry, reply: Reply, book: RuleBook): Verdict {
  const comparison = comparisonOf(entry, book)
  const recorded = differsFromRecorded(entry, reply, comparison)
  if (entry.expect === 'better') {
    const better = (entry.better ?? []).map((answer) => differsFromAnswer(answer, reply, comparison))
    if (better.includes(undefined)) return { result: 'better' }
    if (recorded === undefined) return { result: 'copied' }
    return { result: 'wrong', difference: better[0] ?? recorded }
  }
  if (recorded === undefined) return { result: 'same' }
  const also = (entry.also ?? []).map((answer) => differsFromAnswer(answer, reply, comparison))
  if (also.includes(undefined) || isOtherSequence(entry, reply, comparison)) return { result: 'also' }
  return { result: 'wrong', difference: recorded }
}

function comparisonOf(entry: Entry, book: RuleBook): Comparison {
  const names = ['base', ...(entry.rules ?? [])]
  const rules = names.map((name) => {
    const rule = book.rules.get(name)
    if (!rule) throw new Error(`entry ${entry.id} names rule ${name}, which does not exist`)
    return rule
  })
  return { rule: combineRules(rules), addedFields: book.addedFields }
}

function differsFromRecorded(entry: Entry, reply: Reply, comparison: Comparison): string | undefined {
  if (reply.status !== entry.status) return `status ${reply.status} instead of ${entry.status}`
  if (entry.location !== undefined && reply.location !== entry.location) {
    return `location ${String(reply.location)} instead of ${entry.location}`
  }
  if (entry.text !== undefined && entry.body === undefined) {
    return reply.text === entry.text ? undefined : `text ${reply.text.slice(0, 100)} instead of ${entry.text}`
  }
  if (entry.body === undefined) return undefined
  return differsFromBody(reply, entry.body, comparison)
}

function differsFromAnswer(answer: Answer, reply: Reply, comparison: Comparison): string | undefined {
  if (reply.status !== answer.status) return `status ${reply.status} instead of ${answer.status}`
  if (answer.body !== undefined) return differsFromBody(reply, answer.body, comparison)
  if (answer.subset === undefined) return undefined
  return differsFromBody(reply, answer.subset, { ...comparison, isSubset: true })
}

function differsFromBody(reply: Reply, expected: Json, comparison: Comparison): string | undefined {
  if (!reply.type.startsWith('application/json')) return `content type ${reply.type}`
  const body = parse(reply.text)
  if (body === undefined) return `no JSON: ${reply.text.slice(0, 100)}`
  if (reply.status === 200 && !hasQueryTime(body)) return 'no numeric query_time'
  return findDifference(body, expected, comparison)
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function hasQueryTime(body: Json): boolean {
  return (
    typeof body === 'object' && body !== null && !Array.isArray(body) && typeof body.query_time === 'number'
  )
}

/**
 * Whether the answer has its records in another accepted order. A record that is also in the recorded answer must be
 * equal to the recorded record.
 */
function isOtherSequence(entry: Entry, reply: Reply, comparison: Comparison): boolean {
  const { alsoIds } = entry
  if (!alsoIds || reply.status !== entry.status || entry.body === undefined) return false
  const actual = recordsAt(parse(reply.text), alsoIds.at)
  const known = recordsAt(entry.body, alsoIds.at)
  if (!actual || !known) return false
  const sequence = JSON.stringify(actual.map((record) => record[alsoIds.key]))
  if (!alsoIds.lists.some((list) => JSON.stringify(list) === sequence)) return false
  return actual.every((record, index) => {
    const match = known.find((each) => each[alsoIds.key] === record[alsoIds.key])
    if (!match) return true
    const { ordinality: _ours, ...mine } = record
    const { ordinality: _theirs, ...expected } = match
    const path = [...alsoIds.at.split('.'), index]
    return (
      findDifference(nest(path, mine), nest(path, expected), { ...comparison, isSubset: true }) === undefined
    )
  })
}

function recordsAt(body: Json | undefined, at: string): Record<string, Json>[] | undefined {
  let value: Json | undefined = body
  for (const key of at.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    value = value[key]
  }
  return Array.isArray(value) ? (value as Record<string, Json>[]) : undefined
}

/** Wraps a value in objects along its path, so that rules with full paths apply. */
function nest(path: readonly (string | number)[], value: Json): Json {
  return path.reduceRight<Json>((inner, key) => ({ [String(key)]: inner }), value)
}
