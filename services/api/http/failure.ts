import type { Context } from 'koa'
import { PronghornError, describeError } from '../../core/errors/index.ts'
import { RequestError, sendJson } from '../../core/http/index.ts'
import type { Failure } from '../../core/http/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { failureBody } from './endpoint-answers.ts'

/** Value of `Retry-After` of a refused request, seconds. */
const RETRY_AFTER_SECONDS = '1'

/** Status in the metrics for a request whose client has disconnected. nginx uses the same status. */
const CLIENT_GONE_STATUS = 499

/** Failure of a request that gets no database connection, because too many requests wait. */
export const busyFailure: Failure = unavailable('Too many requests at once')

/** Sends the failure envelope for an error of any step of a request. */
export function answerFailure(context: Context, error: unknown, logger: Logger): void {
  const failure = failureOf(error, logger)
  context.set(failure.headers)
  sendJson(context, failure.status, failureBody(failure.message))
}

/** Returns status and message of an error. Unexpected errors are logged. */
function failureOf(error: unknown, logger: Logger): Failure {
  if (error instanceof RequestError) {
    return { status: error.status, message: error.message, headers: error.headers }
  }
  if (error instanceof PronghornError) {
    const known = knownFailure(error)
    if (known) return known
  }
  logger.error({ err: error }, `request failed: ${describeError(error)}`)
  return { status: 500, message: 'Internal Server Error', headers: {} }
}

function knownFailure(error: PronghornError): Failure | undefined {
  switch (error.code) {
    case 'QUERY_TIMEOUT':
      return {
        status: 408,
        message: 'Max database query time exceeded. Please try to add more filters to your query.',
        headers: {},
      }
    case 'CLIENT_GONE':
      // The client has disconnected, so the response is only counted in the metrics.
      return { status: CLIENT_GONE_STATUS, message: 'The client closed the connection', headers: {} }
    case 'DATABASE_BUSY':
      return busyFailure
    case 'DATABASE_UNAVAILABLE':
      return unavailable('Database unavailable')
    case 'DATABASE_ERROR':
      // PostgreSQL rejected a value that the validation had accepted. The client sent the value, so the status is 400.
      if (error.details.kind === 'value') {
        return { status: 400, message: 'Invalid value for a parameter', headers: {} }
      }
      return undefined
    default:
      return undefined
  }
}

function unavailable(message: string): Failure {
  return { status: 503, message, headers: { 'Retry-After': RETRY_AFTER_SECONDS } }
}
