import type { Middleware } from 'koa'
import { setHeaders } from './headers.ts'
import type { Headers } from './headers.ts'

/** Nothing can be written by another method. */
const METHODS = 'GET,HEAD,POST'
/** A longer origin is none that a browser sends. */
const MAX_ORIGIN_LENGTH = 300

const everyOrigin: Headers = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' }
/** Caches between here and the browser must not answer one origin with the answer to another. */
const otherOrigin: Headers = { Vary: 'Origin' }

/**
 * Sets which pages may read an answer in a browser, from the `Origin` of the request.
 *
 * @param patterns regular expressions of origins, found anywhere in them; none = every origin.
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

/** Sets the headers of `createCorsHeaders` on every answer, and answers every preflight. */
export function createCorsStep(patterns: readonly string[]): Middleware {
  const headersFor = createCorsHeaders(patterns)
  return (context, next) => {
    setHeaders(context.res, headersFor(context.req.headers.origin))
    if (context.method !== 'OPTIONS') return next()
    context.status = 204
    context.set('Access-Control-Allow-Methods', METHODS)
    return Promise.resolve()
  }
}
