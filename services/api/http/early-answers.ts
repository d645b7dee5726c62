import type { IncomingMessage, ServerResponse } from 'node:http'
import { JSON_TYPE } from '../../core/http/index.ts'
import type { Failure, RequestObserver } from '../../core/http/index.ts'
import type { Headers } from '../../core/http/headers/index.ts'
import { failureBody } from './endpoint-answers.ts'
import type { ClientOf } from './endpoint-answers.ts'

/**
 * Dependencies of the handlers that answer a request without the request lifecycle: from the cache, or with a refusal.
 */
export interface EarlyParts {
  readonly clientOf: ClientOf
  readonly observers: readonly RequestObserver[]
  readonly commonHeaders: () => Headers
  readonly corsHeaders: (origin: string | undefined) => Headers
}

export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/** Headers that every response has. */
export function headersFor(parts: EarlyParts, { headers }: IncomingMessage): Headers[] {
  return [parts.commonHeaders(), parts.corsHeaders(headers.origin)]
}

/**
 * Sends a failure.
 * @param more headers in addition to the headers of every response and of the failure.
 * @returns the size of the sent body, bytes.
 */
export function refuse(
  parts: EarlyParts,
  { req, res }: Exchange,
  { status, message, headers }: Failure,
  more: Headers = {},
): number {
  // The body stays a string, because Node.js sends a string in one write with the headers.
  const body = failureBody(message)
  const bytes = Buffer.byteLength(body)
  const own = { 'Content-Type': JSON_TYPE, 'Content-Length': String(bytes) }
  res.writeHead(status, listOf([...headersFor(parts, req), more, headers, own]))
  res.end(body)
  return bytes
}

/**
 * Flattens headers to a list of alternating names and values. Merging the objects would take longer than all other
 * steps of an early answer.
 */
export function listOf(records: readonly Headers[]): string[] {
  const list: string[] = []
  const vary: string[] = []
  for (const record of records) {
    for (const name in record) {
      const value = record[name]!
      if (name === 'Vary') vary.push(value)
      else list.push(name, value)
    }
  }
  if (vary.length > 0) list.push('Vary', vary.join(', '))
  return list
}
