import type { IncomingMessage } from 'node:http'
import { hasBody, mediaTypeOf, readBodyText, RequestError } from '../../core/http/index.ts'
import type { RawValue } from '../endpoint/index.ts'
import { parseJsonBody } from './json-body.ts'
import { parseQueryString } from './query-string.ts'

/** Largest body, as sent and as decompressed. */
const MAX_BODY_BYTES = 10 * 1024 * 1024

/**
 * Reads the parameters in the body of a request: JSON or an urlencoded form, on any method. Other content types are
 * ignored.
 *
 * @throws RequestError 400 malformed, 413 over 10 MB, 415 unknown compression.
 */
export async function readBodyParameters(request: IncomingMessage): Promise<Map<string, RawValue>> {
  const none = new Map<string, RawValue>()
  if (!hasBody(request)) return none
  const type = mediaTypeOf(request)
  if (type !== 'application/json' && type !== 'application/x-www-form-urlencoded') return none
  const text = await readBodyText(request, MAX_BODY_BYTES)
  if (type === 'application/json') return parseJsonBody(text)
  const parameters = parseQueryString(text.trim())
  if (!parameters) throw new RequestError(400, 'The body has too many parameters')
  return parameters
}
