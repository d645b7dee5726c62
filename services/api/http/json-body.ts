import type { RawScalar, RawValue } from '../endpoint/index.ts'
import { RequestError } from '../endpoint/index.ts'
import { MAX_PAIRS } from './query-string.ts'

/** A JSON string, or an integer too long to be exact as a double; in this order, so that strings are stepped over. */
const STRING_OR_LONG_INTEGER = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g

/**
 * Reads the parameters of a JSON body: an object; an array is allowed and has none. Numbers and booleans keep their
 * type, integers of 16 digits and more become text so that no digit is lost, arrays become lists. Members that are
 * null or objects count as absent.
 *
 * @throws RequestError 400 for malformed JSON and for a bare scalar.
 */
export function parseJsonBody(text: string): Map<string, RawValue> {
  const parameters = new Map<string, RawValue>()
  if (text.trim() === '') return parameters
  const value = parse(text)
  if (typeof value !== 'object' || value === null) {
    throw new RequestError(400, 'The body must be a JSON object')
  }
  if (Array.isArray(value)) return parameters
  const entries = Object.entries(value)
  if (entries.length > MAX_PAIRS) throw new RequestError(400, 'The body has too many parameters')
  for (const [key, member] of entries) {
    const raw = rawValue(member)
    if (raw !== undefined) parameters.set(key.replace(/\[\]$/, ''), raw)
  }
  return parameters
}

function parse(text: string): unknown {
  const exact = /\d{16}/.test(text)
    ? text.replaceAll(STRING_OR_LONG_INTEGER, (token) => (token.startsWith('"') ? token : `"${token}"`))
    : text
  try {
    return JSON.parse(exact) as unknown
  } catch {
    throw new RequestError(400, 'The body is not valid JSON')
  }
}

function rawValue(member: unknown): RawValue | undefined {
  if (isScalar(member)) return member
  if (!Array.isArray(member)) return undefined
  const scalars = member.filter(isScalar)
  return scalars.length === 0 ? undefined : scalars
}

function isScalar(value: unknown): value is RawScalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
