import type { IncomingMessage } from 'node:http'
import { hasBody } from '../../core/http/content/index.ts'
import type { KnownClient } from '../../core/http/limits/index.ts'
import type { AnswerCache } from '../cache/index.ts'

/** Identifies the client of a request. */
export type ClientOf = (of: { readonly req: IncomingMessage }) => KnownClient

/** The cache and the identification of clients. */
export interface AnswerCaching {
  readonly cache: AnswerCache
  readonly clientOf: ClientOf
}

/** Whether a request may use the cache: its answer may come from it and may be stored in it. */
export function mayUseCache({ req }: { readonly req: IncomingMessage }, clientOf: ClientOf): boolean {
  return (req.method === 'GET' || req.method === 'HEAD') && !clientOf({ req }).isExempt
}

/** The URL of a request as sent; undefined if the request has a body. */
export function spelledAddress(request: IncomingMessage): string | undefined {
  return hasBody(request) ? undefined : request.url
}

/** Text before and after `data` in a response. `query_time` is the server's clock in ms since 1970. */
export function successEnvelope(nowMs: number): readonly [before: string, after: string] {
  return ['{"success":true,"data":', `,"query_time":${nowMs}}`]
}

/** Wraps the JSON text of `data` in the success envelope. */
export function successBody(data: string, nowMs: number): string {
  return successEnvelope(nowMs).join(data)
}

/** JSON text of a failure. */
export function failureBody(message: string): string {
  return JSON.stringify({ success: false, message })
}
