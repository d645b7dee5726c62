import { databaseFailure } from '../../core/database/index.ts'
import { FatalError, PronghornError, RetryableError } from '../../core/errors/index.ts'

/**
 * Runs a comparison, or reads digests or seals for a comparison. Converts fatal errors to retryable errors (exit code
 * 75), because exit code 1 is reserved for differences. `DATABASE_DIFFERS` and `USAGE` stay fatal.
 */
export async function orIncomplete(task: () => Promise<void>): Promise<void> {
  try {
    await task()
  } catch (error) {
    if (!(error instanceof FatalError) || error.code === 'DATABASE_DIFFERS' || error.code === 'USAGE')
      throw error
    throw new RetryableError(error.code, error.message, { cause: error.cause, details: error.details })
  }
}

/** Runs a task. If the connection to the database breaks, throws the error of `databaseFailure`. */
export async function orUnavailable<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (error) {
    if (error instanceof PronghornError || !isConnectionFailure(error)) throw error
    throw databaseFailure(error, 'the connection to the database broke')
  }
}

function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string') return /^(08|53|57P)|^E[A-Z]+$/.test(code)
  return /Connection terminated|Client has encountered a connection error|not queryable/.test(error.message)
}
