import { findDifferences, showValue } from '../answers/index.ts'
import type { Difference } from '../answers/index.ts'
import type { Received } from './send.ts'

/** Headers that clients act on. Dates, tags and headers added by a proxy differ between any two servers. */
const comparedHeaders = [
  'content-type',
  'location',
  'allow',
  'warning',
  'cache-control',
  'vary',
  'link',
  'access-control-allow-origin',
  'access-control-allow-headers',
  'access-control-expose-headers',
]

/**
 * Matches the member `query_time` at the end of an answer. It is the server's clock, so it differs between
 * any two answers.
 */
const QUERY_TIME = /,"query_time":\d+\}$/

/** Whether an answer has content: a non-empty list, a count other than zero, or a record. */
export function hasContent({ status, text }: Received): boolean {
  return status === 200 && !/^\{"success":true,"data":(?:\[\]|"0")/.test(text)
}

interface CompareOptions {
  /** Whether only the types of the answers' values are compared. */
  readonly isVolatile?: boolean
  /** Whether the comparison ignores the response headers. */
  readonly bodyOnly?: boolean
}

/** All differences between two answers to the same request. */
export function answersDiffer(
  a: Received,
  b: Received,
  { isVolatile = false, bodyOnly = false }: CompareOptions = {},
): Difference[] {
  if (a.status !== b.status) {
    const shown = [a, b].map(({ status, text }) => `${status} ${text.slice(0, 160)}`)
    return [{ path: '', kind: `status ${a.status}/${b.status}`, shown: [shown[0]!, shown[1]!] }]
  }
  const bodies = bodiesDiffer(a, b, isVolatile)
  // Headers are compared only if the bodies are equal: bodies of different length may be compressed
  // differently, and then their headers differ.
  const headers = bodyOnly || bodies.length > 0 ? [] : headersDiffer(a, b)
  return [...headers, ...bodies]
}

function headersDiffer(a: Received, b: Received): Difference[] {
  return comparedHeaders
    .filter((name) => String(a.headers[name]) !== String(b.headers[name]))
    .map((name) => ({
      path: '',
      kind: `header ${name}`,
      shown: [showValue(a.headers[name]), showValue(b.headers[name])],
    }))
}

function bodiesDiffer(a: Received, b: Received, isVolatile: boolean): Difference[] {
  const texts = [a.text.replace(QUERY_TIME, '}'), b.text.replace(QUERY_TIME, '}')] as const
  if (texts[0] === texts[1]) return []
  const values = texts.map(parse)
  if (values.includes(undefined)) return [{ path: '', kind: 'text', shown: [cut(texts[0]), cut(texts[1])] }]
  const [left, right] = isVolatile ? values.map(typesOf) : values
  const found = findDifferences(left, right)
  if (found.length > 0 || isVolatile) return found
  return [{ path: '', kind: 'bytes of the same JSON', shown: [cut(texts[0]), cut(texts[1])] }]
}

function cut(text: string): string {
  return text.slice(0, 160)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/**
 * Types of a JSON value: replaces each scalar by the name of its type, and each list by the distinct types of its
 * elements.
 */
function typesOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((each) => JSON.stringify(typesOf(each))))]
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, typesOf(each)]))
}
