import type { IncomingMessage } from 'node:http'
import { hasBody, mediaTypeOf } from '../../core/http/content/index.ts'
import { RequestError } from '../../core/http/index.ts'
import type { BodyReader } from '../../core/http/content/index.ts'
import type { RawValue } from '../request/index.ts'
import type { ClientOf } from './cached-answers.ts'
import { parseJsonBody } from './json-body.ts'
import { parseMultipart } from './multipart-body.ts'
import { MAX_PAIRS, parseQueryString } from './query-string.ts'

/** Characters of a media type that an error message repeats. */
const MAX_TYPE_SHOWN = 100

/** 415 that names the type of a body which is not read. */
function unreadType(type: string): RequestError {
  const found = type === '' ? 'no type and is no JSON' : `the type ${type.slice(0, MAX_TYPE_SHOWN)}`
  const readable =
    'JSON as application/json, or a form as application/x-www-form-urlencoded or multipart/form-data'
  return new RequestError(415, `The body has ${found}: send ${readable}`)
}

/** Body formats. */
type Form = 'json' | 'urlencoded' | 'multipart' | 'text' | 'untyped'

/**
 * Body format of a media type.
 * @throws RequestError 415 for an unsupported type.
 */
function formOf(type: string): Form {
  if (type.endsWith('json')) return 'json'
  if (type === 'application/x-www-form-urlencoded') return 'urlencoded'
  if (type === 'multipart/form-data') return 'multipart'
  if (type === 'text/plain') return 'text'
  if (type === '') return 'untyped'
  throw unreadType(type)
}

/** Reader of request bodies and the identification of clients. */
export interface BodyParts {
  readonly bodies: BodyReader
  readonly clientOf: ClientOf
}

/**
 * Reads the parameters in the body of a request: JSON or the fields of a form, on any method. JSON is read under the types of
 * plain text and of urlencoded forms too, because curl and browsers send it so. Other plain text has no parameters, as in the
 * replaced system.
 *
 * @param warn called with a sentence for each ignored part of the body.
 * @throws RequestError 400 malformed, 408 too slow, 413 too large, 415 unsupported type or compression, 503 too many
 * bodies at once.
 */
export async function readBodyParameters(
  request: IncomingMessage,
  { bodies, clientOf }: BodyParts,
  warn: (sentence: string) => void,
): Promise<Map<string, RawValue>> {
  if (!hasBody(request)) return new Map()
  const form = formOf(mediaTypeOf(request))
  const text = await bodies.readText(request, clientOf({ req: request }).key)
  if (form === 'multipart') return parseMultipart(text, request.headers['content-type']!)
  if (form === 'json' || /^\s*(?:[[{]|$)/.test(text)) return parseJsonBody(text, warn)
  if (form === 'urlencoded') return parseForm(text)
  if (form === 'untyped') throw unreadType('')
  warn('the body is plain text that is no JSON; it is ignored')
  return new Map()
}

function parseForm(text: string): Map<string, RawValue> {
  const parameters = parseQueryString(text.trim())
  if (!parameters) throw new RequestError(400, `The body has more than ${MAX_PAIRS} parameters: send fewer`)
  return parameters
}
