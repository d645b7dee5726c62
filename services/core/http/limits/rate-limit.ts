import limitRequests from 'koa-ratelimit'
import type { Redis } from 'ioredis'
import type { Context, Middleware } from 'koa'
import type { Headers } from '../headers/index.ts'
import type { KnownClient } from './clients.ts'
import type { RequestCounter } from './request-counter.ts'
import { RequestError } from '../request-error.ts'

/** Rate limit settings, with the keys of server.config.json. */
export interface RateLimitSettings {
  /** Length in seconds of the window in which the requests of a client are counted. */
  readonly interval: number
  readonly requests: number
  readonly bill_execution_time: boolean
}

/** State of a client's rate-limit window after a request. */
export interface RequestWindow {
  /** Requests left in the window. */
  readonly remaining: number
  /** End of the window in seconds since 1970, rounded up. */
  readonly reset: number
  readonly isAllowed: boolean
}

/** Request limit per client. */
export interface RequestLimit {
  readonly settings: RateLimitSettings
  /** Counts a request of a client, allowed or refused. */
  count(client: string): Promise<RequestWindow>
  /**
   * With `bill_execution_time`: counts one more request for each second that a request took after its first second. The
   * response to this request does not contain the additional counts yet.
   */
  bill(client: string, elapsedMs: number): void
}

/** @param counter must have windows of length `settings.interval`. */
export function createRequestLimit(settings: RateLimitSettings, counter: RequestCounter): RequestLimit {
  const { requests, bill_execution_time: isBilled } = settings
  return {
    settings,
    async count(client) {
      const { count, expiresInMs } = await counter.add(client, 1)
      const reset = Math.ceil((Date.now() + expiresInMs) / 1_000)
      return { remaining: Math.max(0, requests - count), reset, isAllowed: count <= requests }
    },
    bill(client, elapsedMs) {
      const extra = Math.ceil(elapsedMs / 1_000) - 1
      if (isBilled && extra > 0) void counter.add(client, extra)
    },
  }
}

const REFUSAL = 'Rate limit'
const LIMIT_HEADER = 'X-RateLimit-Limit'
const REMAINING_HEADER = 'X-RateLimit-Remaining'
const RESET_HEADER = 'X-RateLimit-Reset'

/**
 * Headers of a rate-limited response. The `X-RateLimit-` headers contain the end of the window as a time, the
 * `RateLimit-` headers as the seconds left.
 */
export function limitHeaders(limit: RequestLimit, window: RequestWindow): Headers {
  const { requests } = limit.settings
  return {
    [LIMIT_HEADER]: String(requests),
    [REMAINING_HEADER]: String(window.remaining),
    [RESET_HEADER]: String(window.reset),
    ...standardHeaders(limit.settings, window.remaining, window.reset),
    ...(window.isAllowed ? {} : retryHeaders(limit.settings, window.reset)),
  }
}

function standardHeaders(
  { requests, interval }: RateLimitSettings,
  remaining: number,
  reset: number,
): Headers {
  return {
    'RateLimit-Limit': String(requests),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(secondsUntil(reset, interval)),
    'RateLimit-Policy': `${requests};w=${interval}`,
  }
}

function retryHeaders({ interval }: RateLimitSettings, reset: number): Headers {
  return { 'Retry-After': String(Math.max(1, secondsUntil(reset, interval))) }
}

function secondsUntil(reset: number, interval: number): number {
  return Math.min(interval, Math.max(0, Math.ceil(reset - Date.now() / 1_000)))
}

/** Creates the error for a request above the limit. The caller passes the limit headers, if any. */
export function refusalOf(headers: Headers = {}): RequestError {
  return new RequestError(429, REFUSAL, headers)
}

/** Dependencies of the rate limit middleware. */
export interface RateLimitParts {
  readonly limit: RequestLimit
  readonly clientOf: (context: Context) => KnownClient
  /** Whether a request counts against the limit. */
  readonly applies: (context: Context) => boolean
}

/**
 * Refuses requests above the limit with 429. All requests of a window count, including refused requests. With
 * `bill_execution_time`, each second that a request takes after its first second counts as one more request. The
 * headers of the client's next response include the additional counts.
 */
export function createRateLimitStep({ limit, clientOf, applies }: RateLimitParts): Middleware {
  const { settings } = limit
  const limitRequest = limitRequests({
    driver: 'redis',
    db: countingDatabase(limit),
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
    const setHeaders = (): number => {
      const reset = Number(context.response.get(RESET_HEADER))
      context.set(standardHeaders(settings, Number(context.response.get(REMAINING_HEADER)), reset))
      return reset
    }
    try {
      await limitRequest(context, async () => {
        outcome.isAllowed = true
        setHeaders()
        await next()
      })
      if (!outcome.isAllowed) throw refusalOf(retryHeaders(settings, setHeaders()))
    } finally {
      limit.bill(clientOf(context).key, performance.now() - startedMs)
    }
  }
}

/** Prefix that koa-ratelimit adds to a client id. */
const ID_PREFIX = 'limit:'

/**
 * Replaces the Redis client of koa-ratelimit. koa-ratelimit calls one command, which counts a request and returns two
 * numbers: the requests that were left before the request, and the end of the window in seconds since 1970. The
 * original script of koa-ratelimit stores the time of each request in a sliding window and fails without Redis. The
 * replacement counts in fixed windows, as clients of the replaced system expect, works without Redis and supports
 * `bill_execution_time`.
 */
function countingDatabase(limit: RequestLimit): Redis {
  const ratelimiter = async (id: string): Promise<[remaining: number, reset: number, total: number]> => {
    const { remaining, reset, isAllowed } = await limit.count(id.slice(ID_PREFIX.length))
    return [isAllowed ? remaining + 1 : 0, reset, limit.settings.requests]
  }
  return { ratelimiter } as unknown as Redis
}
