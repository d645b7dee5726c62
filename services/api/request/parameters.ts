import { countText } from '../../core/limits/index.ts'
import type { Limit } from '../../core/limits/index.ts'
import { readParameters } from '../../core/endpoint/index.ts'
import { repeatedParameter, shownName } from '../../core/http/headers/index.ts'
import type { NamedLists, Parameters, Values } from '../../core/endpoint/index.ts'
import { invalidParameter } from './request-error.ts'
import { RequestError } from '../../core/http/index.ts'

/** Maximum number of parameters in a query string or form. A request with more parameters is refused. */
export const MAX_PAIRS = 10_000

/** Limits of parameters. The documentation lists these limits. */
export const parameterLimits: readonly Limit[] = [
  {
    counts: 'parameters of a query string or a body',
    per: 'request',
    value: countText(MAX_PAIRS),
    beyond: '400',
  },
]

/** Collects parameters. A repeated or bracketed parameter becomes a list. */
export class ParameterCollector {
  readonly #values = new Map<string, RawScalar | RawScalar[]>()

  get parameters(): Map<string, RawValue> {
    return this.#values
  }

  /** Adds a value. `key[]` and `key[3]` mean the same as a repeated `key`. */
  add(key: string, value: RawScalar): void {
    const bracket = /\[\d{0,6}\]$/.exec(key)
    const name = bracket ? key.slice(0, bracket.index) : key
    const before = this.#values.get(name)
    if (before === undefined) this.#values.set(name, bracket ? [value] : value)
    else if (typeof before === 'object') before.push(value)
    else this.#values.set(name, [before, value])
  }
}

/**
 * Parses a query string or an urlencoded form. Malformed percent escapes are kept as text.
 * @returns undefined if there are more than MAX_PAIRS parameters.
 */
export function parseQueryString(text: string): Map<string, RawValue> | undefined {
  const collector = new ParameterCollector()
  if (text === '') return collector.parameters
  const pairs = text.split('&', MAX_PAIRS + 1)
  if (pairs.length > MAX_PAIRS) return undefined
  for (const pair of pairs) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const key = decode(at < 0 ? pair : pair.slice(0, at))
    collector.add(key, at < 0 ? '' : decode(pair.slice(at + 1)))
  }
  return collector.parameters
}

function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}

/** An unparsed scalar: text of a query string, or text, number or boolean of a JSON body. */
export type RawScalar = string | number | boolean

/** All values of a parameter: a scalar, or a list if the parameter was repeated, bracketed, or a JSON array. */
export type RawValue = RawScalar | readonly RawScalar[]

/** Merged parameters of query string and body. If both have a parameter, the body's value is used. */
export type RawParameters = ReadonlyMap<string, RawValue>

/** Sources of parameter values: path, query string or body, and named lists. */
interface RequestParts {
  /** Path parameters by name. */
  readonly path?: Readonly<Record<string, string>>
  readonly raw: RawParameters
  readonly lists: NamedLists
  /**
   * Called with a warning for each parameter whose value is not used. The default, or a later value of the same
   * parameter, is used in its place.
   */
  readonly warn?: (sentence: string) => void
}

/**
 * Reads and checks every parameter of an endpoint. A query or body parameter cannot override a path parameter. Several
 * values of a list parameter are merged without duplicates. If a parameter is not a list, its last value is used, with
 * a warning if the values differ.
 * @throws RequestError 400 `Invalid value for parameter NAME` for the first invalid parameter.
 */
export function readRequest<P extends Parameters>(
  parameters: P,
  { path = {}, raw, lists, warn }: RequestParts,
): Promise<Values<P>> {
  return readParameters(parameters, {
    lists,
    find(name, parameter) {
      if (parameter.in === 'path') return path[name]
      const given = raw.get(name)
      if (typeof given !== 'object') return given
      const texts = [...new Set(given.map(String))].filter((text) => text !== '')
      if (parameter.list !== undefined) return texts.join(',')
      if (texts.length > 1) warn?.(repeatedParameter(name))
      return given.findLast((value) => value !== '')
    },
    refuse(name, { message, reason }) {
      throw invalidParameter(name, reason, `${name} ${message}`)
    },
    warn(name, { message }) {
      warn?.(`${name} ${message}; the default is used`)
    },
  })
}

/** Sets of NFT attributes to which filters can apply. */
export type AttributeFamily = 'data' | 'template_data' | 'immutable_data' | 'mutable_data'

/** A condition `FAMILY[:typing].KEY=value` on one attribute. */
export interface AttributeFilter {
  readonly family: AttributeFamily
  /**
   * JSON objects, for example `{"level":4}`. A set of attributes matches the filter if it contains (`@>`) at least one
   * of the objects. The list is empty if no attributes can match the filter.
   */
  readonly containments: readonly string[]
}

const PATTERN = /^(data|template_data|immutable_data|mutable_data)(?::(text|number|bool))?\.([^]*)$/

/** Maximum length of the JSON text of an attribute filter, characters. */
const MAX_LENGTH = 4_096
/** Maximum number of attribute filters of a request. */
const MAX_FILTERS = 100

/** Limits of attribute filters. The documentation lists these limits. */
export const attributeFilterLimits: readonly Limit[] = [
  { counts: 'attribute filters', per: 'request', value: String(MAX_FILTERS), beyond: '400' },
  {
    counts: 'characters of the JSON of an attribute filter',
    per: 'parameter',
    value: countText(MAX_LENGTH),
    beyond: '400',
  },
]

/** Returns the attribute set to which a parameter applies; undefined if the parameter is not an attribute filter. */
export function familyOf(name: string): AttributeFamily | undefined {
  return PATTERN.exec(name)?.[1] as AttributeFamily | undefined
}

/**
 * Reads the filters of the given attribute sets from the parameters. `data` and `template_data` apply to the same
 * attributes: a filter `template_data.KEY` replaces a filter `data.KEY`.
 *
 * Values are compared as JSON:
 *
 * - Values of `:text` are compared as strings, values of `:number` as numbers.
 * - Values of `:bool` are compared as 0 or 1, because booleans are stored as 0 or 1.
 * - Text without a type is compared as a string. Text that looks like a number or boolean is also compared as such.
 * - A number or boolean of a JSON body is also compared as text, because 64-bit integers are stored as text.
 * - A list or a repeated parameter matches an attribute that is a list with these elements. It also matches an
 *   attribute that matches the last value.
 *
 * @param warn called with a sentence for a parameter with several values, because only a list attribute is compared
 * with all of them, and for a `:number` value that only begins with a number.
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
    // Refuse more than MAX_FILTERS filters: if some were ignored, the answer would contain unwanted rows.
    if (filters.length === MAX_FILTERS)
      throw new RequestError(400, `More than ${MAX_FILTERS} attribute filters: send fewer`)
    if (typeof value === 'object' && new Set(value).size > 1)
      warn(`${repeatedParameter(name)}, unless the attribute is a list`)
    const compared = typedValues(value, readerOf(name, match[2], warn)).map((each) => containment(key, each))
    const containments = [...new Set(compared.filter((each) => each !== undefined))]
    if (containments.some(({ length }) => length > MAX_LENGTH))
      throw invalidParameter(shownName(name), `the filter is longer than ${MAX_LENGTH} characters as JSON`)
    filters.push({ family, containments })
  }
  return filters
}

function isReplaced(raw: RawParameters, key: string): boolean {
  return ['', ':text', ':number', ':bool'].some((typing) => raw.has(`template_data${typing}.${key}`))
}

/** Lists the values that an attribute may have to match a filter with the value `value`. */
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

/** Text of a valid JSON number with a limited number of digits. */
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?$/

/** Returns the number that a text may mean: 4 for `4`, 1 for `true`, 0 for `false`. Undefined for other text. */
function alikeOf(text: string): number | undefined {
  if (text === 'true' || text === 'false') return text === 'true' ? 1 : 0
  const value = NUMBER.test(text) ? Number(text) : NaN
  return Number.isFinite(value) ? value : undefined
}

function untyped(value: RawScalar): RawScalar {
  return typeof value === 'boolean' ? Number(value) : value
}

/** Converts the value of an attribute filter that names a type, such as `data:number.level=4`. */
type ReadTyped = (value: RawScalar) => RawScalar

/** Texts of booleans, with the numbers that are stored for them. */
const booleans: ReadonlyMap<string, number> = new Map([
  ['true', 1],
  ['1', 1],
  ['false', 0],
  ['0', 0],
])

/**
 * Returns the function that reads the values of a type; undefined without a type. The function throws RequestError 400
 * for an invalid value.
 */
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
    // Like the replaced system, read the number at the beginning of the value: `12abc` is read as 12.
    const number = Number.parseFloat(String(value))
    if (!Number.isFinite(number)) refuse('a number')
    if (number !== Number(value))
      warn(`the value of ${shownName(name)} is not a number; the beginning of the value is read as ${number}`)
    return number
  }
}

function containment(key: string, value: RawValue): string | undefined {
  // A computed key creates an own property, even for the name `__proto__`.
  const text = JSON.stringify({ [key]: value })
  // JSON.stringify writes U+0000 and lone surrogates as the escapes of this pattern. A `jsonb` value of PostgreSQL
  // cannot contain these characters.
  return /\\u(?:0000|d[89a-f])/.test(text.replaceAll('\\\\', '')) ? undefined : text
}
