import type { Middleware } from 'koa'

/** Headers of every answer: `Last-Modified`, and `X-Revision` where the revision is known. */
export function createHeadersStep(revision: string | undefined): Middleware {
  return (context, next) => {
    // The moment of the answer, as clients know it; it says nothing about the age of the data.
    context.set('Last-Modified', new Date().toUTCString())
    if (revision !== undefined) context.set('X-Revision', revision)
    return next()
  }
}
