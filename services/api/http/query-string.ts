import { countText } from '../../core/limits/index.ts'
import type { Limit } from '../../core/limits/index.ts'
import type { RawScalar, RawValue } from '../request/index.ts'

/** Most pairs of one query string or form; a request with more is malformed. */
export const MAX_PAIRS = 10_000

/** Limits of parameters, for people. */
export const parameterLimits: readonly Limit[] = [
  {
    counts: 'parameters of a query string or a body',
    per: 'request',
    value: countText(MAX_PAIRS),
    beyond: '400',
  },
]

/** Collects parameters; a repeated or bracketed one becomes a list. */
export class ParameterCollector {
  readonly #values = new Map<string, RawScalar | RawScalar[]>()

  get parameters(): Map<string, RawValue> {
    return this.#values
  }

  /** Adds a value under its key; `key[]` and `key[3]` are the same list as `key` repeated. */
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
 * Reads a query string or an urlencoded form. An invalid percent escape is taken literally.
 * @returns undefined when there are too many pairs.
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
