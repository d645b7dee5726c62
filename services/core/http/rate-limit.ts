import limitRequests from 'koa-ratelimit'
import type { Redis } from 'ioredis'
import type { Context, Middleware } from 'koa'
import type { KnownClient } from './clients.ts'
import type { RequestCounter } from './request-counter.ts'
import { RequestError } from './request-error.ts'

/** Settings named like their keys in server.config.json. */
export interface RateLimitSettings {
  /** Seconds. */
  readonly interval: number
  readonly requests: number
  readonly bill_execution_time: boolean
}

/** What a limit needs. */
export interface RateLimitParts {
  readonly settings: RateLimitSettings
  /** With windows of `interval`. */
  readonly counter: RequestCounter
  readonly clientOf: (context: Context) => KnownClient
  /** Which requests count. */
  readonly applies: (context: Context) => boolean
}

const REFUSAL = 'Rate limit'
const LIMIT_HEADER = 'X-RateLimit-Limit'
const REMAINING_HEADER = 'X-RateLimit-Remaining'
const RESET_HEADER = 'X-RateLimit-Reset'

/**
 * Refuses with 429 whoever asks more often than allowed. Every request of a window counts, refused ones too. With
 * `bill_execution_time` each further second that one takes counts as one more, told with the next answer.
 */
export function createRateLimitStep({ settings, counter, clientOf, applies }: RateLimitParts): Middleware {
  const limit = limitRequests({
    driver: 'redis',
    db: countingDatabase(counter, settings.requests),
    max: settings.requests,
    duration: settings.interval * 1_000,
    id: (context) => clientOf(context).key,
    errorMessage: REFUSAL,
    headers: { total: LIMIT_HEADER, remaining: REMAINING_HEADER, reset: RESET_HEADER },
  })
  return async (context, next) => {
    if (!applies(context) || clientOf(context).isExempt) {
      await next()
      return
    }
    const startedMs = performance.now()
    const outcome = { isAllowed: false }
    try {
      await limit(context, async () => {
        outcome.isAllowed = true
        setStandardHeaders(context, settings)
        await next()
      })
      if (!outcome.isAllowed) throw refusal(context, settings)
    } finally {
      if (settings.bill_execution_time) bill(context, performance.now() - startedMs)
    }
  }

  function bill(context: Context, elapsedMs: number): void {
    const extra = Math.ceil(elapsedMs / 1_000) - 1
    if (extra > 0) void counter.add(clientOf(context).key, extra)
  }
}

function refusal(context: Context, settings: RateLimitSettings): RequestError {
  const secondsLeft = setStandardHeaders(context, settings)
  return new RequestError(429, REFUSAL, { 'Retry-After': String(Math.max(1, secondsLeft)) })
}

/** The headers without prefix tell the seconds that are left, where those with it tell the moment. */
function setStandardHeaders(context: Context, { requests, interval }: RateLimitSettings): number {
  const { response } = context
  const left = Math.ceil(Number(response.get(RESET_HEADER)) - Date.now() / 1_000)
  const secondsLeft = Math.min(interval, Math.max(0, left))
  context.set({
    'RateLimit-Limit': String(requests),
    'RateLimit-Remaining': response.get(REMAINING_HEADER),
    'RateLimit-Reset': String(secondsLeft),
    'RateLimit-Policy': `${requests};w=${interval}`,
  })
  return secondsLeft
}

/** Prefix that koa-ratelimit puts before an id. */
const ID_PREFIX = 'limit:'

/**
 * What koa-ratelimit asks of its Redis client: one command that counts a request and tells what is left, before it,
 * and the end of the window in seconds since 1970. Its own is a script that keeps the moment of each request in a
 * sliding window and fails with its connection; this one counts in fixed windows, as clients know them, goes on
 * without Redis, and can be billed.
 */
function countingDatabase(counter: RequestCounter, requests: number): Redis {
  const ratelimiter = async (id: string): Promise<[remaining: number, reset: number, total: number]> => {
    const { count, expiresInMs } = await counter.add(id.slice(ID_PREFIX.length), 1)
    const reset = Math.ceil((Date.now() + expiresInMs) / 1_000)
    return [Math.max(0, requests - count + 1), reset, requests]
  }
  return { ratelimiter } as unknown as Redis
}
