import type { Context, Middleware } from 'koa'

/** An HTTP response that reports an error. */
export interface Failure {
  readonly status: number
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Creates the middleware that turns errors of inner middleware into responses. A response retains the headers that were
 * set before the error.
 */
export function createFailureStep(answer: (context: Context, error: unknown) => void): Middleware {
  return async (context, next) => {
    try {
      await next()
    } catch (error) {
      answer(context, error)
    }
  }
}
