import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { hasBody, JSON_TYPE, limitHeaders, observeRequest, refusalOf } from '../../core/http/index.ts'
import type {
  CacheOutcome,
  Headers,
  KnownClient,
  RequestLimit,
  RequestObserver,
} from '../../core/http/index.ts'
import { Answer } from '../cache/index.ts'
import type { AnswerCache, AnswerForm, KeptAnswer, UnchangedAnswers } from '../cache/index.ts'
import { failureBody, successEnvelope } from './envelope.ts'

/** Tells the client of a request. */
export type ClientOf = (of: { readonly req: IncomingMessage }) => KnownClient

/** The cache, and who may be answered from it. */
export interface AnswerKeeping {
  readonly cache: AnswerCache
  readonly clientOf: ClientOf
}

/** What kept answers are given with: the same as the steps of the lifecycle give all others. */
export interface KeptAnswerParts {
  readonly clientOf: ClientOf
  /** Undefined when no answer is kept for a while. */
  readonly cache: AnswerCache | undefined
  /** Asked without a cache. */
  readonly unchanged: UnchangedAnswers
  readonly observers: readonly RequestObserver[]
  readonly commonHeaders: () => Headers
  readonly corsHeaders: (origin: string | undefined) => Headers
  readonly limit: RequestLimit | undefined
}

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/** An answer that is there, and how it was come by. */
interface Found extends KeptAnswer {
  readonly outcome: CacheOutcome
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
 * bare server: no context, no route, no parameters. What a cache keeps does not even ask the database; without one,
 * requests that came at the same time ask it together whether anything has changed. Everything else goes on to the
 * lifecycle.
 */
export function answerKeptFirst(parts: KeptAnswerParts, lifecycle: RequestListener): RequestListener {
  return (req, res) => {
    const startedMs = performance.now()
    const exchange = { req, res }
    const found = findKept(parts, req)
    if (!found) lifecycle(req, res)
    else if (!(found instanceof Promise)) give(parts, exchange, found, startedMs)
    else {
      void found.then((unchanged) => {
        if (unchanged) give(parts, exchange, unchanged, startedMs)
        else lifecycle(req, res)
      })
    }
  }
}

function findKept(
  { cache, unchanged, clientOf }: KeptAnswerParts,
  req: IncomingMessage,
): Found | Promise<Found | undefined> | undefined {
  const address = spelledAddress(req)
  if (address === undefined) return undefined
  if (cache) {
    const kept = cache.findByAddress(address)
    return kept && mayUseCache({ req }, clientOf) ? { ...kept, outcome: 'hit' } : undefined
  }
  if (!mayUseCache({ req }, clientOf)) return undefined
  return unchanged.findByAddress(address)?.then((found) => {
    if (!found) return undefined
    const { data, route, namespace } = found
    return { answer: Answer.of(data, successEnvelope(Date.now())), route, namespace, outcome: 'unchanged' }
  })
}

function give(parts: KeptAnswerParts, exchange: Exchange, found: Found, startedMs: number): void {
  const { req, res } = exchange
  const { answer, route, namespace, outcome: cache } = found
  const sent = { bytes: 0 }
  for (const observer of parts.observers) {
    observeRequest(observer, exchange, () => ({ route, namespace, cache, bytes: sent.bytes }), startedMs)
  }
  const form = answer.formFor(req.method ?? '', req.headers)
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
  const pieces = req.method === 'HEAD' ? [] : (form.body ?? [])
  // They leave together: what is written in one turn is.
  for (const piece of pieces) res.write(piece)
  res.end()
  return pieces.reduce((sum, { length }) => sum + length, 0)
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
