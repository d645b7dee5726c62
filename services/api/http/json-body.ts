import { shownName } from '../../core/http/headers/index.ts'
import type { RawScalar, RawValue } from '../request/index.ts'
import { invalidParameter, familyOf, MAX_PAIRS } from '../request/index.ts'
import { RequestError } from '../../core/http/index.ts'

const EXAMPLE = '{"limit":10}'

/**
 * Reads the parameters of a JSON body.
 *
 * - Numbers and booleans retain their type. Integers of 16 digits and more become text, so that no digit is lost.
 * - Arrays become lists.
 * - Null members, null list items and empty lists count as absent, except for an empty list of an attribute filter.
 * - Brackets at the end of a name, as in `ids[]`, are removed, unless the name is the name of an attribute filter.
 *
 * @param warn called with a sentence for each ignored null and each ignored empty list.
 * @throws RequestError 400 for malformed JSON, for a value that is no object, and for a member that contains an object.
 */
export function parseJsonBody(
  text: string,
  warn: (sentence: string) => void = () => undefined,
): Map<string, RawValue> {
  const parameters = new Map<string, RawValue>()
  if (text.trim() === '') return parameters
  const value = parse(text)
  // A body that is an empty array has no parameters, as in the replaced system.
  if (Array.isArray(value) && value.length === 0) return parameters
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RequestError(400, `The body must be a JSON object, for example ${EXAMPLE}`)
  const entries = Object.entries(value)
  if (entries.length > MAX_PAIRS)
    throw new RequestError(400, `The body has more than ${MAX_PAIRS} parameters: send fewer`)
  for (const [key, member] of entries) {
    if (member === null) {
      warn(`${shownName(key)} is null; it is ignored`)
      continue
    }
    if (Array.isArray(member) && member.includes(null)) warn(`null in the list ${shownName(key)} is ignored`)
    const raw = rawValue(key, member)
    const isAttribute = familyOf(key) !== undefined
    if (!isAttribute && isEmptyList(raw)) warn(`${shownName(key)} is an empty list; it is ignored`)
    else parameters.set(isAttribute ? key : key.replace(/\[\]$/, ''), raw)
  }
  return parameters
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return /\d{16}/.test(text) ? (JSON.parse(quoteLongIntegers(text)) as unknown) : value
  } catch {
    throw new RequestError(400, `The body is not valid JSON: send an object, for example ${EXAMPLE}`)
  }
}

/** Puts integers that a double may not hold exactly into quotes. The input must be valid JSON. */
function quoteLongIntegers(text: string): string {
  const parts: string[] = []
  const token = /"|-?\d[\d.eE+-]*/g
  let from = 0
  for (let match = token.exec(text); match; match = token.exec(text)) {
    if (match[0] === '"') {
      token.lastIndex = endOfString(text, token.lastIndex)
    } else if (/^-?\d{16,}$/.test(match[0])) {
      parts.push(text.slice(from, match.index), `"${match[0]}"`)
      from = token.lastIndex
    }
  }
  return parts.join('') + text.slice(from)
}

/**
 * Returns the position after the closing quote of a JSON string.
 * @param from position inside the string.
 */
function endOfString(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at < 0 ? text.length : at + 1
}

function isEscaped(text: string, at: number): boolean {
  let start = at
  while (text[start - 1] === '\\') start--
  return (at - start) % 2 === 1
}

/**
 * @throws RequestError 400 for a member that is neither a scalar nor a list of scalars. If the member is a filter and
 * were ignored, the answer would contain rows that the client has excluded.
 */
function rawValue(key: string, member: unknown): RawValue {
  if (isScalar(member)) return member
  const items = Array.isArray(member) ? member.filter((item) => item !== null) : undefined
  if (items?.every(isScalar) === true) return items
  throw invalidParameter(
    shownName(key),
    'the body has an object for this parameter: send text, a number, a boolean or a list of these',
  )
}

function isEmptyList(raw: RawValue): boolean {
  return typeof raw === 'object' && raw.length === 0
}

function isScalar(value: unknown): value is RawScalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
