import { hash } from 'node:crypto'
import { valuesText } from '../../core/endpoint/index.ts'
import type { Values } from '../../core/endpoint/index.ts'
import type { AttributeFilter } from '../request/index.ts'

/** Longer texts are replaced by their hash. */
const MAX_TEXT_LENGTH = 200

/**
 * What an answer depends on: the endpoint and its parameters as they were understood. The order of the parameters,
 * their spelling, and unknown parameters are ignored.
 *
 * @param place identifies an endpoint within all namespaces.
 * @param noted names of parameters whose presence matters.
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
