import type { IncomingMessage } from 'node:http'
import { hasBody, mediaTypeOf } from '../../core/http/content/index.ts'
import { RequestError } from '../../core/http/index.ts'
import type { BodyReader } from '../../core/http/content/index.ts'
import type { RawValue } from '../request/index.ts'
import type { ClientOf } from './cached-answers.ts'
import { parseJsonBody } from './json-body.ts'
import { parseQueryString } from './query-string.ts'

const NOT_READ =
  'The body is of a type that is not read: send JSON as application/json, or a form as application/x-www-form-urlencoded'

/** How bodies of a media type are read. */
type Form = 'json' | 'urlencoded' | 'text' | 'untyped'

/** @throws RequestError 415 for a type that nothing is read from. */
function formOf(type: string): Form {
  if (type.endsWith('json')) return 'json'
  if (type === 'application/x-www-form-urlencoded') return 'urlencoded'
  if (type === 'text/plain') return 'text'
  if (type === '') return 'untyped'
  throw new RequestError(415, NOT_READ)
}

/** Where the bodies of a server are read, and who reads them. */
export interface BodyParts {
  readonly bodies: BodyReader
  readonly clientOf: ClientOf
}

/**
 * Reads the parameters in the body of a request: JSON or an urlencoded form, on any method. What has no type, or that of
 * plain text,
 * is read as JSON too; other plain text has no parameters, as in the replaced system.
 *
 * @param warn is called with a sentence when the body is ignored.
 * @throws RequestError 400 malformed, 408 too slow, 413 too large, 415 another type or an unknown compression, 503 too
 *   many at once.
 */
export async function readBodyParameters(
  request: IncomingMessage,
  { bodies, clientOf }: BodyParts,
  warn: (sentence: string) => void,
): Promise<Map<string, RawValue>> {
  if (!hasBody(request)) return new Map()
  const form = formOf(mediaTypeOf(request))
  const text = await bodies.readText(request, clientOf({ req: request }).key)
  if (form === 'json') return parseJsonBody(text)
  if (form === 'urlencoded') return parseForm(text)
  if (/^\s*(?:[[{]|$)/.test(text)) return parseJsonBody(text)
  if (form === 'untyped') throw new RequestError(415, NOT_READ)
  warn('the body is plain text that is no JSON; it is ignored')
  return new Map()
}

function parseForm(text: string): Map<string, RawValue> {
  const parameters = parseQueryString(text.trim())
  if (!parameters) throw new RequestError(400, 'The body has too many parameters')
  return parameters
}
