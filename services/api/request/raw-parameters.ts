import { countText } from '../../core/limits/index.ts'
import type { Limit } from '../../core/limits/index.ts'
import { readParameters } from '../../core/endpoint/index.ts'
import { repeatedParameter } from '../../core/http/headers/index.ts'
import type { NamedLists, Parameters, Values } from '../../core/endpoint/index.ts'
import { invalidParameter } from './request-error.ts'

/** Limit of parameters in a query string or form; more are malformed. */
export const MAX_PAIRS = 10_000

/** Limits of parameters, for the documentation. */
export const parameterLimits: readonly Limit[] = [
  {
    counts: 'parameters of a query string or a body',
    per: 'request',
    value: countText(MAX_PAIRS),
    beyond: '400',
  },
]

/** Collects parameters. Repeated or bracketed parameters become lists. */
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
 * @returns undefined if there are too many parameters.
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

/** An unparsed scalar: text from a query string; text, number or boolean from a JSON body. */
export type RawScalar = string | number | boolean

/** All values of a parameter: a scalar, or a list if it was repeated, bracketed, or a JSON array. */
export type RawValue = RawScalar | readonly RawScalar[]

/** Parameters of query string and body, merged; the body wins. */
export type RawParameters = ReadonlyMap<string, RawValue>

/** Sources of parameter values. */
interface RequestParts {
  /** Path parameters by name. */
  readonly path?: Readonly<Record<string, string>>
  readonly raw: RawParameters
  readonly lists: NamedLists
  /** Called with a sentence for each value that is replaced by the default or by another value. */
  readonly warn?: (sentence: string) => void
}

/**
 * Reads and checks every parameter of an endpoint. Path parameters cannot be overridden. Several values of a list
 * parameter are merged without duplicates. If a parameter takes no list, its last value counts, with a warning if the
 * values differ.
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
