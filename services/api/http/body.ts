import type { IncomingMessage } from 'node:http'
import { hasBody, mediaTypeOf } from '../../core/http/content/index.ts'
import { RequestError } from '../../core/http/index.ts'
import type { BodyReader } from '../../core/http/content/index.ts'
import type { RawValue } from '../request/index.ts'
import type { ClientOf } from './cached-answers.ts'
import { parseJsonBody } from './json-body.ts'
import { parseQueryString } from './query-string.ts'

/**
 * Reads the parameters in the body of a request: JSON or an urlencoded form, on any method. Other content types are
 * ignored.
 *
 * @throws RequestError 400 malformed, 408 too slow, 413 too large, 415 unknown compression, 503 too many at once.
 */
export async function readBodyParameters(
  request: IncomingMessage,
  bodies: BodyReader,
  clientOf: ClientOf,
): Promise<Map<string, RawValue>> {
  const none = new Map<string, RawValue>()
  if (!hasBody(request)) return none
  const type = mediaTypeOf(request)
  if (type !== 'application/json' && type !== 'application/x-www-form-urlencoded') return none
  const text = await bodies.readText(request, clientOf({ req: request }).key)
  if (type === 'application/json') return parseJsonBody(text)
  const parameters = parseQueryString(text.trim())
  if (!parameters) throw new RequestError(400, 'The body has too many parameters')
  return parameters
}
