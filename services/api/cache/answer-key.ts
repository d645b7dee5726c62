import { hash } from 'node:crypto'
import type { AttributeFilter, Values } from '../endpoint/index.ts'

/** Longer questions are told by their hash. */
const MAX_TEXT_LENGTH = 200

/**
 * What an answer depends on: the endpoint and its parameters as they were understood. The order of the parameters,
 * their spelling, and those that the endpoint does not know make no difference.
 *
 * @param place tells the endpoints of all namespaces apart.
 */
export function answerKey(place: string, values: Values, attributes: readonly AttributeFilter[]): string {
  const filters = attributes.map(({ family, containment }) => [family, containment ?? null])
  const question = `${values.toText()}${filters.length === 0 ? '' : JSON.stringify(filters)}`
  return `${place} ${question.length <= MAX_TEXT_LENGTH ? question : hash('sha256', question, 'base64')}`
}
