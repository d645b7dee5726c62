import type { Context, Middleware } from 'koa'

const METHODS = 'GET,HEAD,PUT,PATCH,POST,DELETE'
/** A longer origin is none that a browser sends. */
const MAX_ORIGIN_LENGTH = 300

/**
 * Tells browsers which pages may read the answers, and answers every preflight.
 *
 * @param patterns regular expressions of origins, found anywhere in them; none = every origin.
 */
export function createCorsStep(patterns: readonly string[]): Middleware {
  const expressions = patterns.map((pattern) => new RegExp(pattern))
  const allow = expressions.length === 0 ? allowAll : allowSome(expressions)
  return (context, next) => {
    allow(context)
    if (context.method !== 'OPTIONS') return next()
    context.status = 204
    context.set('Access-Control-Allow-Methods', METHODS)
    context.set('Content-Length', '0')
    return Promise.resolve()
  }
}

function allowAll(context: Context): void {
  context.set('Access-Control-Allow-Origin', '*')
  context.set('Access-Control-Allow-Headers', '*')
}

function allowSome(expressions: readonly RegExp[]): (context: Context) => void {
  return (context) => {
    // Caches between here and the browser must not answer one origin with what another was told.
    context.vary('Origin')
    const origin = context.get('Origin')
    if (origin === '' || origin.length > MAX_ORIGIN_LENGTH) return
    if (!expressions.some((expression) => expression.test(origin))) return
    context.set('Access-Control-Allow-Origin', origin)
    context.set('Access-Control-Allow-Headers', '*')
  }
}
