import { describeError, FatalError, RetryableError } from '../../core/errors/index.ts'

/** Error codes with which Node.js reports failed connections. */
const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
])

/**
 * SQLSTATE codes of errors that another attempt may avoid, on another connection or a little later: connection
 * exceptions (08), insufficient resources (53), operator intervention (57P), serialization failure and recovery
 * conflict (40001), deadlock (40P01), read-only server (25006).
 */
const RETRYABLE_STATES = /^(?:08|53|57P|40001$|40P01$|25006$)/

/** Whether the error says that a replica cancelled a query that conflicted with replication. */
export function isConflict(error: unknown): boolean {
  return /^40/.test(errorCode(error))
}

/** Kind of a query failure. The kind decides the status of the response. */
export type ProblemKind = 'timeout' | 'gone' | 'busy' | 'unavailable' | 'value' | 'unknown'

/** SQLSTATE or socket error code; empty text if the error has no code. */
function errorCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0])
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/** Classifies an error of `pg` or of its socket. */
export function classifyProblem(error: unknown): ProblemKind {
  const code = errorCode(error)
  const message = error instanceof Error ? error.message : ''
  if (code === '57014' || code === 'QUERY_TIMEOUT') return 'timeout'
  if (code === 'CLIENT_GONE') return 'gone'
  if (message.startsWith('timeout exceeded when trying to connect')) return 'busy'
  if (socketCodes.has(code) || RETRYABLE_STATES.test(code)) return 'unavailable'
  if (/^Connection terminated|^Client has encountered a connection error/.test(message)) return 'unavailable'
  return /^22/.test(code) ? 'value' : 'unknown'
}

/** Returns the error that the caller of a failed query gets. */
export function queryError(error: unknown, kind: ProblemKind): Error {
  const text = describeError(error)
  if (error instanceof RetryableError) return error
  if (kind === 'timeout')
    return new RetryableError('QUERY_TIMEOUT', 'a query took too long', { cause: error })
  if (kind === 'busy') {
    return new RetryableError('DATABASE_BUSY', 'every database connection is in use', { cause: error })
  }
  if (kind === 'unavailable') {
    return new RetryableError('DATABASE_UNAVAILABLE', `the database is unavailable: ${text}`, {
      cause: error,
    })
  }
  return new FatalError('DATABASE_ERROR', `a query failed: ${text}`, { cause: error, details: { kind } })
}
