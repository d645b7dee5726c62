import { countText } from '../../core/limits/index.ts'
import type { Limit } from '../../core/limits/index.ts'
import type { RawScalar, RawValue } from '../request/index.ts'

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
