import type { Context } from 'koa'
import { describeError } from '../../core/errors/index.ts'
import { RequestError, sendJson } from '../../core/http/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { envelope, Refusal } from '../answers/index.ts'
import { traceIdOf } from './trace.ts'

/** Error codes in responses by HTTP status. */
const codes: Readonly<Record<number, string>> = {
  408: 'request_timeout_error',
  413: 'request_body_too_large_error',
  415: 'unsupported_encoding_error',
  429: 'auth_rate_limited_error',
  503: 'app_not_ready_error',
}

/**
 * Creates the function that converts an error to the error response of the service. The response to an unexpected
 * error reveals no details.
 */
export function createFailureAnswer(logger: Logger): (context: Context, error: unknown) => void {
  return (context, error) => {
    const { status, code, message, details, headers } = failureOf(error)
    const traceId = traceIdOf(context)
    if (status >= 500) {
      const level = error instanceof Refusal ? 'warn' : 'error'
      logger[level]({ traceId, path: context.path, err: describeError(error) }, 'a request failed')
    }
    context.set(headers)
    sendJson(context, status, envelope(code, message, traceId, details))
  }
}

interface FailureParts {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  readonly headers: Record<string, string>
}

function failureOf(error: unknown): FailureParts {
  if (error instanceof Refusal) {
    const { status, answerCode, message, answerDetails, headers } = error
    return { status, code: answerCode, message, details: answerDetails, headers: { ...headers } }
  }
  if (error instanceof RequestError) {
    const code = codes[error.status] ?? 'request_error'
    const { status, message, headers } = error
    return { status, code, message, details: {}, headers: { ...headers } }
  }
  const message = 'An unexpected error occurred.'
  return { status: 500, code: 'unexpected_error', message, details: {}, headers: {} }
}

/** Body of the response to bytes that are not an HTTP request. */
export function malformedRequestBody(status: number, message: string, traceId: string): string {
  return envelope(codes[status] ?? 'request_error', message, traceId)
}
