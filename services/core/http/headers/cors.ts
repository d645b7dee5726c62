import type { Middleware } from 'koa'
import { setHeaders } from './headers.ts'
import type { Headers } from './headers.ts'

/** Maximum length of an `Origin` header: no browser sends a longer origin. */
const MAX_ORIGIN_LENGTH = 300

const everyOrigin: Headers = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' }
/**
 * Makes caches store one response per origin. Otherwise a cache could answer one origin with the CORS headers of
 * another origin.
 */
const otherOrigin: Headers = { Vary: 'Origin' }

/**
 * Creates the CORS headers for a request's `Origin`, which decide which web pages may read the response.
 *
 * @param patterns regular expressions that match anywhere in the origin; none = every origin.
 */
export function createCorsHeaders(patterns: readonly string[]): (origin: string | undefined) => Headers {
  if (patterns.length === 0) return () => everyOrigin
  const expressions = patterns.map((pattern) => new RegExp(pattern))
  return (origin = '') => {
    if (origin === '' || origin.length > MAX_ORIGIN_LENGTH) return otherOrigin
    if (!expressions.some((expression) => expression.test(origin))) return otherOrigin
    return { ...otherOrigin, 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Headers': '*' }
  }
}

/**
 * Adds CORS headers to every response and answers preflight requests.
 *
 * @param patterns see `createCorsHeaders`.
 * @param methodsOf methods of a path, without OPTIONS.
 */
export function createCorsStep(
  patterns: readonly string[],
  methodsOf: (path: string) => readonly string[],
): Middleware {
  const headersFor = createCorsHeaders(patterns)
  return (context, next) => {
    setHeaders(context.res, headersFor(context.req.headers.origin))
    if (context.method !== 'OPTIONS') return next()
    context.status = 204
    context.set('Access-Control-Allow-Methods', methodsOf(context.path).join(','))
    return Promise.resolve()
  }
}
