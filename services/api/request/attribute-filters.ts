import { RequestError } from '../../core/http/index.ts'
import { countText } from '../../core/limits/index.ts'
import type { Limit } from '../../core/limits/index.ts'
import { invalidParameter } from './request-error.ts'
import type { RawParameters, RawScalar, RawValue } from './raw-parameters.ts'

/** The attributes that a filter is applied to. */
export type AttributeFamily = 'data' | 'template_data' | 'immutable_data' | 'mutable_data'

/** A condition `FAMILY[:typing].KEY=value` on one attribute. */
export interface AttributeFilter {
  readonly family: AttributeFamily
  /**
   * JSON text of the object that the attributes must contain, for example `{"level":4}`; undefined when the value
   * can match nothing.
   */
  readonly containment: string | undefined
}

const PATTERN = /^(data|template_data|immutable_data|mutable_data)(?::(text|number|bool))?\.([^]*)$/

/** Greatest length of the JSON text that one of them compares with. */
const MAX_LENGTH = 4_096
/** Letters of a parameter's name that an error repeats. */
const MAX_NAME_SHOWN = 100
/** Most attribute filters of one request. */
const MAX_FILTERS = 100

/** Limits of attribute filters, for people. */
export const attributeFilterLimits: readonly Limit[] = [
  { counts: 'attribute filters', per: 'request', value: String(MAX_FILTERS), beyond: '400' },
  {
    counts: 'letters of the JSON of an attribute filter',
    per: 'parameter',
    value: countText(MAX_LENGTH),
    beyond: '400',
  },
]

/** Whether a parameter is an attribute filter by its name, such as `data:number.level`. */
export function isAttributeFilter(name: string): boolean {
  return PATTERN.test(name)
}

/**
 * Finds the attribute filters of the given families among the parameters. `template_data.KEY` replaces `data.KEY`,
 * which is applied to the same attributes. Values are compared as JSON: untyped and `:text` as strings, `:number` as
 * numbers, `:bool` as the 0 or 1 that booleans are stored as; a list means an array that contains these elements.
 *
 * @throws RequestError 400 for more or longer filters than are allowed.
 */
export function readAttributeFilters(
  raw: RawParameters,
  families: readonly AttributeFamily[],
): AttributeFilter[] {
  const filters: AttributeFilter[] = []
  if (families.length === 0) return filters
  for (const [name, value] of raw) {
    const match = PATTERN.exec(name)
    if (!match) continue
    const family = match[1] as AttributeFamily
    const key = match[3]!
    if (!families.includes(family) || (family === 'data' && isReplaced(raw, key))) continue
    // A silently ignored filter would return unwanted rows.
    if (filters.length === MAX_FILTERS)
      throw new RequestError(400, `More than ${MAX_FILTERS} attribute filters`)
    const compared = containment(key, typedValue(value, match[2]))
    if (compared !== undefined && compared.length > MAX_LENGTH)
      throw invalidParameter(name.slice(0, MAX_NAME_SHOWN), `it is longer than ${MAX_LENGTH} characters`)
    filters.push({ family, containment: compared })
  }
  return filters
}

function isReplaced(raw: RawParameters, key: string): boolean {
  return ['', ':text', ':number', ':bool'].some((typing) => raw.has(`template_data${typing}.${key}`))
}

function typedValue(value: RawValue, typing: string | undefined): RawValue | undefined {
  if (typeof value !== 'object') return typedScalar(value, typing)
  const elements = value.map((each) => typedScalar(each, typing))
  return elements.every((each) => each !== undefined) ? elements : undefined
}

function typedScalar(value: RawScalar, typing: string | undefined): RawScalar | undefined {
  if (typing === 'text') return String(value)
  if (typing === 'bool') return value === true || value === 1 || value === '1' || value === 'true' ? 1 : 0
  if (typing === 'number') {
    const parsed = Number.parseFloat(String(value))
    return Number.isFinite(parsed) ? parsed : undefined
  }
  if (typeof value === 'boolean') return value ? 1 : 0
  return value
}

function containment(key: string, value: RawValue | undefined): string | undefined {
  if (value === undefined) return undefined
  // A computed key is an own property also when it is called __proto__.
  const text = JSON.stringify({ [key]: value })
  // PostgreSQL holds neither U+0000 nor lone surrogates; JSON.stringify writes both as escapes of this form.
  return /\\u(?:0000|d[89a-f])/.test(text.replaceAll('\\\\', '')) ? undefined : text
}
