import type { IncomingMessage, RequestListener } from 'node:http'
import { observeRequest } from '../../core/http/index.ts'
import { limitHeaders, refusalOf } from '../../core/http/limits/index.ts'
import type { Headers } from '../../core/http/headers/index.ts'
import type { RequestLimit } from '../../core/http/limits/index.ts'
import type { AnswerBudget } from '../../core/http/index.ts'
import type { AnswerCache, AnswerForm, CachedAnswer } from '../cache/index.ts'
import { headersFor, listOf, refuse } from './early-answers.ts'
import type { EarlyParts, Exchange } from './early-answers.ts'
import { mayUseCache, spelledAddress } from './endpoint-answers.ts'

export interface CachedAnswerParts extends EarlyParts {
  readonly cache: AnswerCache
  readonly limit: RequestLimit | undefined
  readonly answers: AnswerBudget
}

/**
 * Answers a request whose URL is in the cache before the request lifecycle: without a Koa context, without a route and
 * without parsing. The cost is little more than the cost of the HTTP server. Other requests continue with the
 * lifecycle.
 */
export function answerFromCache(parts: CachedAnswerParts, lifecycle: RequestListener): RequestListener {
  return (req, res) => {
    const startedMs = performance.now()
    const found = findCached(parts, req)
    if (found) give(parts, { req, res }, found, startedMs)
    else lifecycle(req, res)
  }
}

function findCached({ cache, clientOf }: CachedAnswerParts, req: IncomingMessage): CachedAnswer | undefined {
  const address = spelledAddress(req)
  if (address === undefined) return undefined
  const cached = cache.findByAddress(address)
  return cached && mayUseCache({ req }, clientOf) ? cached : undefined
}

function give(parts: CachedAnswerParts, exchange: Exchange, found: CachedAnswer, startedMs: number): void {
  const { req, res } = exchange
  const { answer, route, namespace } = found
  const sent = { bytes: 0 }
  for (const observer of parts.observers) {
    observeRequest(
      observer,
      exchange,
      () => ({ route, namespace, cache: 'hit', bytes: sent.bytes }),
      startedMs,
    )
  }
  const isHeld = parts.answers.holdNow(exchange, parts.clientOf({ req }), answer.size)
  const form = isHeld ? answer.formFor(req.method ?? '', req.headers) : undefined
  if (form && !parts.limit && !(form instanceof Promise)) {
    sent.bytes = sendForm(exchange, headersFor(parts, req), form)
    return
  }
  answerLimited(parts, exchange, form).then(
    (bytes) => {
      sent.bytes = bytes
    },
    // Compression failed for lack of memory, so there is no body to send: close the connection.
    () => res.destroy(),
  )
}

/**
 * Sends a cached answer, or a refusal if the request limit is exceeded.
 * @returns the size of the sent body, bytes.
 */
async function answerLimited(
  parts: CachedAnswerParts,
  exchange: Exchange,
  form: AnswerForm | Promise<AnswerForm> | undefined,
): Promise<number> {
  const { limit, clientOf } = parts
  const { req } = exchange
  let counted: Headers = {}
  if (limit) {
    // The request limit counts the request, but not its processing time: sending a cached answer takes too little time.
    const window = await limit.count(clientOf({ req }).key)
    counted = limitHeaders(limit, window)
    if (!window.isAllowed) return refuse(parts, exchange, refusalOf(), counted)
  }
  if (!form) return refuse(parts, exchange, parts.answers.refusal(), counted)
  return sendForm(exchange, [...headersFor(parts, req), counted], await form)
}

function sendForm({ req, res }: Exchange, headers: Headers[], form: AnswerForm): number {
  res.writeHead(form.status, listOf([...headers, form.headers]))
  const body = req.method === 'HEAD' ? undefined : form.body
  res.end(body)
  return body?.length ?? 0
}
