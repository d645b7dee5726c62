const MAX_CAUSES = 3

/** Whether a connection was refused, by one address or by all addresses of a host name. */
export function isConnectionRefused(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return false
  if ('code' in error && error.code === 'ECONNREFUSED') return true
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every((each) => isConnectionRefused(each, depth + 1))
  return isConnectionRefused(error.cause, depth + 1)
}
