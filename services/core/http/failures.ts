import type { Context, Middleware } from 'koa'

/** An answer other than success. */
export interface Failure {
  readonly status: number
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
}

/** Turns whatever the steps below throw into an answer; headers that were set before stay. */
export function createFailureStep(answer: (context: Context, error: unknown) => void): Middleware {
  return async (context, next) => {
    try {
      await next()
    } catch (error) {
      answer(context, error)
    }
  }
}
