import { hash } from 'node:crypto'
import { valuesText } from '../../core/endpoint/index.ts'
import type { Values } from '../../core/endpoint/index.ts'
import type { AttributeFilter } from '../endpoint/index.ts'

/** Longer questions are told by their hash. */
const MAX_TEXT_LENGTH = 200

/**
 * What an answer depends on: the endpoint and its parameters as they were understood. The order of the parameters,
 * their spelling, and those that the endpoint does not know make no difference.
 *
 * @param place tells the endpoints of all namespaces apart.
 * @param noted names of parameters of which it matters that they were given.
 */
export function answerKey(
  place: string,
  values: Values,
  attributes: readonly AttributeFilter[],
  noted: readonly string[],
): string {
  const filters = attributes.map(({ family, containment }) => [family, containment ?? null])
  const further = filters.length + noted.length === 0 ? '' : JSON.stringify([filters, noted])
  const question = valuesText(values) + further
  return `${place} ${question.length <= MAX_TEXT_LENGTH ? question : hash('sha256', question, 'base64')}`
}
