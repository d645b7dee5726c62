import { repeatedParameter, shownName } from '../../core/http/headers/index.ts'
import { RequestError } from '../../core/http/index.ts'
import { countText } from '../../core/limits/index.ts'
import type { Limit } from '../../core/limits/index.ts'
import { invalidParameter } from './request-error.ts'
import type { RawParameters, RawScalar, RawValue } from './raw-parameters.ts'

/** Sets of NFT attributes that filters can apply to. */
export type AttributeFamily = 'data' | 'template_data' | 'immutable_data' | 'mutable_data'

/** A condition `FAMILY[:typing].KEY=value` on one attribute. */
export interface AttributeFilter {
  readonly family: AttributeFamily
  /**
   * JSON objects, for example `{"level":4}`. The attributes must contain (`@>`) one of them. Empty if the value can
   * match nothing.
   */
  readonly containments: readonly string[]
}

const PATTERN = /^(data|template_data|immutable_data|mutable_data)(?::(text|number|bool))?\.([^]*)$/

/** Longest JSON text of a filter value, characters. */
const MAX_LENGTH = 4_096
/** Limit of attribute filters of a request. */
const MAX_FILTERS = 100

/** Limits of attribute filters, for the documentation. */
export const attributeFilterLimits: readonly Limit[] = [
  { counts: 'attribute filters', per: 'request', value: String(MAX_FILTERS), beyond: '400' },
  {
    counts: 'letters of the JSON of an attribute filter',
    per: 'parameter',
    value: countText(MAX_LENGTH),
    beyond: '400',
  },
]

/** Whether a parameter name has the form of an attribute filter, such as `data:number.level`. */
export function isAttributeFilter(name: string): boolean {
  return familyOf(name) !== undefined
}

/** The attribute set that a parameter filters; undefined if it is not an attribute filter. */
export function familyOf(name: string): AttributeFamily | undefined {
  return PATTERN.exec(name)?.[1] as AttributeFamily | undefined
}

/**
 * Finds the attribute filters of the given families among the parameters. `template_data.KEY` replaces `data.KEY`,
 * which is applied to the same attributes. Values are compared as JSON: `:text` as strings, `:number` as numbers, `:bool` as
 * the 0 or 1 that booleans are stored as. Untyped text is compared as a string, and as the number or boolean that it is
 * written like. A number or boolean of a JSON body is compared as such and as its text, because integers of 64 bits are
 * stored as text. A list, or a repeated parameter, matches an array that contains these elements, and otherwise the last
 * value.
 *
 * @param warn called with a sentence for a parameter with several values, of which the last one may count alone, and for a
 * text of which the first letters alone are a number.
 * @throws RequestError 400 for too many or too long filters, and for a value that does not have the named type.
 */
export function readAttributeFilters(
  raw: RawParameters,
  families: readonly AttributeFamily[],
  warn: (sentence: string) => void = () => undefined,
): AttributeFilter[] {
  const filters: AttributeFilter[] = []
  if (families.length === 0) return filters
  for (const [name, value] of raw) {
    const match = PATTERN.exec(name)
    if (!match) continue
    const family = match[1] as AttributeFamily
    const key = match[3]!
    if (!families.includes(family) || (family === 'data' && isReplaced(raw, key))) continue
    // Reject: ignoring a filter would return unwanted rows.
    if (filters.length === MAX_FILTERS)
      throw new RequestError(400, `More than ${MAX_FILTERS} attribute filters: send fewer`)
    if (typeof value === 'object' && new Set(value).size > 1)
      warn(`${repeatedParameter(name)}, unless the attribute is a list`)
    const compared = typedValues(value, readerOf(name, match[2], warn)).map((each) => containment(key, each))
    const containments = [...new Set(compared.filter((each) => each !== undefined))]
    if (containments.some(({ length }) => length > MAX_LENGTH))
      throw invalidParameter(shownName(name), `it is longer than ${MAX_LENGTH} characters`)
    filters.push({ family, containments })
  }
  return filters
}

function isReplaced(raw: RawParameters, key: string): boolean {
  return ['', ':text', ':number', ':bool'].some((typing) => raw.has(`template_data${typing}.${key}`))
}

/** The values that an attribute may have. */
function typedValues(value: RawValue, read: ReadTyped | undefined): RawValue[] {
  if (typeof value === 'object') {
    const last = value.at(-1)
    const elements = value.map((each) => (read ? read(each) : untyped(each)))
    return last === undefined ? [elements] : [elements, ...typedValues(last, read)]
  }
  if (read) return [read(value)]
  if (typeof value !== 'string') return [untyped(value), String(value)]
  const alike = alikeOf(value)
  return alike === undefined ? [value] : [value, alike]
}

/** Text that is a valid JSON number of moderate length. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?$/

/** The stored number of a text that looks like a number or boolean; undefined for other text. */
function alikeOf(text: string): number | undefined {
  if (text === 'true' || text === 'false') return text === 'true' ? 1 : 0
  const value = NUMBER.test(text) ? Number(text) : NaN
  return Number.isFinite(value) ? value : undefined
}

function untyped(value: RawScalar): RawScalar {
  return typeof value === 'boolean' ? Number(value) : value
}

/** Reads the value of a typed filter. */
type ReadTyped = (value: RawScalar) => RawScalar

/** The texts of booleans, with the numbers that they are stored as. */
const booleans: ReadonlyMap<string, number> = new Map([
  ['true', 1],
  ['1', 1],
  ['false', 0],
  ['0', 0],
])

/** The reader of values of a typing; undefined without one. It throws RequestError 400. */
function readerOf(
  name: string,
  typing: string | undefined,
  warn: (sentence: string) => void,
): ReadTyped | undefined {
  if (typing === undefined) return undefined
  if (typing === 'text') return String
  const refuse = (needed: string): never => {
    throw invalidParameter(shownName(name), `it must be ${needed}`)
  }
  if (typing === 'bool') return (value) => booleans.get(String(value)) ?? refuse('true or false')
  return (value) => {
    // The replaced system reads the number with which a text begins.
    const number = Number.parseFloat(String(value))
    if (!Number.isFinite(number)) refuse('a number')
    if (number !== Number(value)) warn(`${shownName(name)} is no number; it is read as ${number}`)
    return number
  }
}

function containment(key: string, value: RawValue): string | undefined {
  // A computed key creates an own property even if it is named `__proto__`.
  const text = JSON.stringify({ [key]: value })
  // PostgreSQL's jsonb cannot hold U+0000 or lone surrogates, which JSON.stringify writes as these escapes.
  return /\\u(?:0000|d[89a-f])/.test(text.replaceAll('\\\\', '')) ? undefined : text
}
