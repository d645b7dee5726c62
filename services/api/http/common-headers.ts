import type { Middleware } from 'koa'
import { httpDate, setHeaders } from '../../core/http/headers/index.ts'
import type { Headers } from '../../core/http/headers/index.ts'

/** Creates the headers of every response: `Last-Modified`, and `X-Revision` if the revision is known. */
export function createCommonHeaders(revision: string | undefined): () => Headers {
  // `Last-Modified` is the time of the response, as clients expect; it says nothing about the age of the data.
  if (revision === undefined) return () => ({ 'Last-Modified': httpDate() })
  return () => ({ 'Last-Modified': httpDate(), 'X-Revision': revision })
}

/** Step that sets the headers of every response. */
export function createHeadersStep(headers: () => Headers): Middleware {
  return (context, next) => {
    setHeaders(context.res, headers())
    return next()
  }
}
