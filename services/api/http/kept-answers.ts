import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { hasBody, JSON_TYPE, limitHeaders, observeRequest, refusalOf } from '../../core/http/index.ts'
import type { Headers, KnownClient, RequestLimit, RequestObserver } from '../../core/http/index.ts'
import type { AnswerCache, AnswerForm } from '../cache/index.ts'
import { failureBody } from './envelope.ts'

/** Tells the client of a request. */
export type ClientOf = (of: { readonly req: IncomingMessage }) => KnownClient

/** The cache, and who may be answered from it. */
export interface AnswerKeeping {
  readonly cache: AnswerCache
  readonly clientOf: ClientOf
}

/** What kept answers are given with: the same as the steps of the lifecycle give all others. */
export interface KeptAnswerParts extends AnswerKeeping {
  readonly observers: readonly RequestObserver[]
  readonly commonHeaders: () => Headers
  readonly corsHeaders: (origin: string | undefined) => Headers
  readonly limit: RequestLimit | undefined
}

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/** Whether a request may be answered from the cache and its answer kept. */
export function mayUseCache({ req }: { readonly req: IncomingMessage }, clientOf: ClientOf): boolean {
  return (req.method === 'GET' || req.method === 'HEAD') && !clientOf({ req }).isExempt
}

/** The address of a request as it was spelled, where that says everything that was asked. */
export function spelledAddress(request: IncomingMessage): string | undefined {
  return hasBody(request) ? undefined : request.url
}

/**
 * Answers what was asked in the very same words before, ahead of the lifecycle, so that it costs hardly more than the
 * bare server: no context, no route, no parameters, no database. Everything else goes on to the lifecycle.
 */
export function answerKeptFirst(parts: KeptAnswerParts, lifecycle: RequestListener): RequestListener {
  return (req, res) => {
    const kept = !hasBody(req) ? parts.cache.findByAddress(req.url ?? '') : undefined
    if (!kept || !mayUseCache({ req }, parts.clientOf)) {
      lifecycle(req, res)
      return
    }
    const exchange = { req, res }
    const sent = { bytes: 0 }
    for (const observer of parts.observers) {
      const { route, namespace } = kept
      observeRequest(observer, exchange, () => ({ route, namespace, cache: 'hit', bytes: sent.bytes }))
    }
    const form = kept.answer.formFor(req.method ?? '', req.headers)
    if (!parts.limit && !(form instanceof Promise)) {
      sent.bytes = sendForm(exchange, headersFor(parts, req), form)
      return
    }
    answerLimited(parts, exchange, form).then(
      (bytes) => {
        sent.bytes = bytes
      },
      // It could not be compressed for want of memory: there is nothing to answer with.
      () => res.destroy(),
    )
  }
}

/** @returns the number of bytes in the body. */
async function answerLimited(
  parts: KeptAnswerParts,
  exchange: Exchange,
  form: AnswerForm | Promise<AnswerForm>,
): Promise<number> {
  const { limit, clientOf } = parts
  const { req, res } = exchange
  const headers = headersFor(parts, req)
  if (limit) {
    // Too quick for its time to be billed.
    const window = await limit.count(clientOf({ req }).key)
    headers.push(limitHeaders(limit, window))
    if (!window.isAllowed) return refuse(res, headers)
  }
  return sendForm(exchange, headers, await form)
}

function headersFor(parts: KeptAnswerParts, { headers }: IncomingMessage): Headers[] {
  return [parts.commonHeaders(), parts.corsHeaders(headers.origin)]
}

function sendForm({ req, res }: Exchange, headers: Headers[], form: AnswerForm): number {
  res.writeHead(form.status, listOf([...headers, form.headers]))
  const body = req.method === 'HEAD' ? undefined : form.body
  res.end(body)
  return body?.length ?? 0
}

function refuse(response: ServerResponse, headers: Headers[]): number {
  const { status, message } = refusalOf()
  const body = Buffer.from(failureBody(message))
  const own = { 'Content-Type': JSON_TYPE, 'Content-Length': String(body.length) }
  response.writeHead(status, listOf([...headers, own]))
  response.end(body)
  return body.length
}

/** Names and values in turn: joining the records to one takes longer than everything else that is done here. */
function listOf(records: readonly Headers[]): string[] {
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
