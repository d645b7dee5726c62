import { randomBytes } from 'node:crypto'
import type { Context, Middleware } from 'koa'

interface TraceState {
  traceId?: string
}

/** What browsers may send, and what pages may read of the answers. */
const ALLOWED_HEADERS = 'authorization, cache-control, content-type'
const EXPOSED_HEADERS = 'X-Trace-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'

/** Id of a request, 32 hexadecimal digits; it is in the answer and in the log. */
export function traceIdOf(context: Context): string {
  const state = context.state as TraceState
  return (state.traceId ??= randomBytes(16).toString('hex'))
}

/** The outermost step: headers of every answer. */
export function createTraceStep(): Middleware {
  return async (context, next) => {
    context.set('X-Trace-ID', traceIdOf(context))
    await next()
    // The header with the token is one that browsers do not take `*` to stand for.
    context.set('Access-Control-Allow-Headers', ALLOWED_HEADERS)
    context.set('Access-Control-Expose-Headers', EXPOSED_HEADERS)
  }
}
