import { databaseFailure } from '../../core/database/index.ts'
import { FatalError, PronghornError, RetryableError } from '../../core/errors/index.ts'

/** Ends a comparison that did not come about like one that was not finished: exit code 1 is that of differences. */
export async function orIncomplete(task: () => Promise<void>): Promise<void> {
  try {
    await task()
  } catch (error) {
    if (!(error instanceof FatalError) || error.code === 'DATABASE_DIFFERS' || error.code === 'USAGE')
      throw error
    throw new RetryableError(error.code, error.message, { cause: error.cause, details: error.details })
  }
}

/** Reports a database that becomes unavailable as a temporary failure. */
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
