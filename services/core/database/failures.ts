import pg from 'pg'
import { RetryableError } from '../errors/index.ts'
import type { ErrorCode } from '../errors/index.ts'

/** What some answers of the server mean, by SQLSTATE, where the remedy is another one than waiting for the server. */
const known: Readonly<Record<string, readonly [code: ErrorCode, message: string]>> = {
  '53100': ['DATABASE_DISK_FULL', 'the database has no disk space left'],
  '53300': ['DATABASE_UNAVAILABLE', 'the database has no connection left'],
  '57P03': ['DATABASE_UNAVAILABLE', 'the database is starting or stopping'],
  '25006': ['DATABASE_READ_ONLY', 'the database takes no writes'],
}

/** What the system says where the server could only pass it on. */
const NO_SPACE = /No space left on device|Disk quota exceeded/

/** An error of the database after which the same work may succeed, with the code that names its cause. */
export function databaseFailure(cause: unknown, otherwise: string): RetryableError {
  const [code, message] = knownFailure(cause) ?? (['DATABASE_UNAVAILABLE', otherwise] as const)
  return new RetryableError(code, message, { cause })
}

/** Whether an error has a temporary cause: a full disk, a server that has become a replica. */
export function knownFailure(cause: unknown): readonly [code: ErrorCode, message: string] | undefined {
  if (!(cause instanceof pg.DatabaseError)) return undefined
  return known[NO_SPACE.test(cause.message) ? '53100' : (cause.code ?? '')]
}
