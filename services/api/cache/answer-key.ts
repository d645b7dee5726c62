import { hash } from 'node:crypto'
import { valuesText } from '../../core/endpoint/index.ts'
import type { Values } from '../../core/endpoint/index.ts'
import type { AttributeFilter } from '../request/index.ts'

/** Longest key in characters; the text of a longer key is replaced by its hash. */
const MAX_TEXT_LENGTH = 200

/**
 * Cache key of a request: the endpoint and its parsed parameters. The order and spelling of parameters, and unknown
 * parameters, do not change the key.
 *
 * @param place identifies an endpoint within all namespaces.
 * @param noted names of parameters that change the answer by being present, whatever their value is.
 */
export function answerKey(
  place: string,
  values: Values,
  attributes: readonly AttributeFilter[],
  noted: readonly string[],
): string {
  const filters = attributes.map(({ family, containments }) => [family, containments])
  const further = filters.length + noted.length === 0 ? '' : JSON.stringify([filters, noted])
  const text = valuesText(values) + further
  return `${place} ${text.length <= MAX_TEXT_LENGTH ? text : hash('sha256', text, 'base64')}`
}
