import type { Middleware } from 'koa'
import { httpDate, setHeaders } from '../../core/http/headers/index.ts'
import type { Headers } from '../../core/http/headers/index.ts'

/** Creates the headers of every answer: `Last-Modified`, and `X-Revision` where the revision is known. */
export function createCommonHeaders(revision: string | undefined): () => Headers {
  // The time of the answer, as clients expect; it is unrelated to the age of the data.
  if (revision === undefined) return () => ({ 'Last-Modified': httpDate() })
  return () => ({ 'Last-Modified': httpDate(), 'X-Revision': revision })
}

/** Sets the headers of every answer. */
export function createHeadersStep(headers: () => Headers): Middleware {
  return (context, next) => {
    setHeaders(context.res, headers())
    return next()
  }
}
