import { randomBytes } from 'node:crypto'
import type { Context, Middleware } from 'koa'

interface TraceState {
  traceId?: string
}

/** CORS: request headers that browsers may send. */
const ALLOWED_HEADERS = 'authorization, cache-control, content-type'
const EXPOSED_HEADERS = 'X-Trace-ID, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'

/** Trace id of a request, 32 hexadecimal digits; in the response and in the log. */
export function traceIdOf(context: Context): string {
  const state = context.state as TraceState
  return (state.traceId ??= randomBytes(16).toString('hex'))
}

/** The outermost step: sets the headers of every response. */
export function createTraceStep(): Middleware {
  return async (context, next) => {
    context.set('X-Trace-ID', traceIdOf(context))
    await next()
    // Browsers do not accept `*` for the header `Authorization`, so the headers are listed.
    context.set('Access-Control-Allow-Headers', ALLOWED_HEADERS)
    context.set('Access-Control-Expose-Headers', EXPOSED_HEADERS)
  }
}
