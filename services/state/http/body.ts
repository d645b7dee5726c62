import type { IncomingMessage } from 'node:http'
import { hasBody } from '../../core/http/content/index.ts'
import { Refusal } from '../answers/index.ts'
import type { BodyKind } from '../endpoints/index.ts'

/** Reads the text of a request body; refuses a body above the limits. */
export type ReadText = (request: IncomingMessage) => Promise<string>

/**
 * Reads the parameters in a body. Ignores the content type: clients send JSON with the type of a form.
 * @throws Refusal 400 if the body is missing, not JSON, or has too many values; any error of `readText`.
 */
export async function readBody(
  request: IncomingMessage,
  kind: BodyKind,
  readText: ReadText,
): Promise<Map<string, unknown>> {
  if (kind === 'none') return new Map()
  const text = hasBody(request) ? (await readText(request)).trim() : ''
  if (text === '') {
    if (kind === 'any') return new Map()
    throw bodyRefusal('missing_body_error', 'The request has no body.', 'The body must be a JSON object')
  }
  if (hasManyValues(text)) throw invalidJson('The body has too many values')
  if (kind === 'any' && !text.startsWith('{')) return new Map(new URLSearchParams(text))
  return parseObject(text)
}

/**
 * Limit of the braces, brackets, commas and ampersands of a body; no endpoint reads as many values. Parsing 8 MiB of
 * short values would block the process for seconds.
 */
export const MAX_SEPARATORS = 10_000

function hasManyValues(text: string): boolean {
  return ['{', '[', ',', '&'].some((separator) => {
    let at = -1
    for (let count = 0; count <= MAX_SEPARATORS; count++) {
      at = text.indexOf(separator, at + 1)
      if (at < 0) return false
    }
    return true
  })
}

function parseObject(text: string): Map<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    // The parser's message is not shown: it repeats the body, which may contain an API key.
    throw invalidJson('The body is not valid JSON')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw invalidJson('The body must be a JSON object')
  return new Map(Object.entries(parsed))
}

function invalidJson(source: string): Refusal {
  return bodyRefusal('invalid_json_error', 'The body is not the JSON that was expected.', source)
}

function bodyRefusal(code: string, message: string, source: string): Refusal {
  return new Refusal(400, code, message, { details: { errors: { source: [source] } } })
}
