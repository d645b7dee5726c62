import pg from 'pg'
import { FatalError, PronghornError, RetryableError } from '../errors/index.ts'
import type { ErrorCode, ErrorDetails } from '../errors/index.ts'
import type { DatabaseAddress } from './connection.ts'

/** Address of the database for messages; undefined if the caller has only a session. */
type DatabasePlace = Pick<DatabaseAddress, 'host' | 'port' | 'user' | 'database'>

interface Known {
  readonly code: ErrorCode
  /** Builds the message, which names the server if the address is known. */
  readonly message: (place: DatabasePlace | undefined) => string
  /** Whether the cause lasts until an operator acts, so that waiting cannot help. */
  readonly isLasting?: true
  /** Values that the remedy of the error contains, such as the name of a limit. */
  readonly details?: (cause: Error) => ErrorDetails
}

const serverOf = (place: DatabasePlace | undefined): string =>
  place === undefined ? 'PostgreSQL' : `PostgreSQL at ${place.host}:${place.port}`
const loginRefused: Known = {
  code: 'DATABASE_LOGIN_REFUSED',
  message: (place) =>
    `${serverOf(place)} refuses the login${place === undefined ? '' : ` of user ${place.user} to database ${place.database}`}`,
}

/** Describes the exhausted connection limit for the remedy, if the limit belongs to a role or to a database. */
function exhaustedLimit({ message }: Error): ErrorDetails {
  const [, kind, name] = /too many connections for (role|database) (".*")/.exec(message) ?? []
  if (kind === undefined) return {}
  return {
    limit: `the limit of this ${kind} (\`ALTER ${kind.toUpperCase()} ${name!} CONNECTION LIMIT -1\` removes it)`,
  }
}

/** Server errors that an operator can cause and fix, by SQLSTATE. */
const known: Readonly<Record<string, Known>> = {
  '53100': { code: 'DISK_FULL', message: () => 'the database has no disk space left' },
  '53300': {
    code: 'DATABASE_CONNECTIONS',
    message: (place) => `${serverOf(place)} has no connection left`,
    details: exhaustedLimit,
  },
  '57P03': { code: 'DATABASE_UNAVAILABLE', message: (place) => `${serverOf(place)} is starting or stopping` },
  '25006': { code: 'DATABASE_READ_ONLY', message: (place) => `${serverOf(place)} accepts no writes` },
  '28P01': loginRefused,
  '28000': loginRefused,
  '3D000': {
    code: 'DATABASE_MISSING',
    message: (place) => `${serverOf(place)} has no database ${place?.database ?? 'of this name'}`,
  },
  '42501': {
    code: 'DATABASE_PERMISSION',
    message: (place) => `the database user${place === undefined ? '' : ` ${place.user}`} lacks a privilege`,
    isLasting: true,
  },
}

/** Error codes of all causes that an operator has to fix. */
export const operatorFailures: readonly ErrorCode[] = Object.values(known).map(({ code }) => code)

/** Messages of the operating system about a full disk, which PostgreSQL reports under SQLSTATEs other than 53100. */
const NO_SPACE = /No space left on device|Disk quota exceeded/

/**
 * Converts an error of `pg` to an error with the code of its cause: retryable, unless an operator has to act.
 *
 * @param otherwise message for an unknown cause.
 */
export function databaseFailure(cause: unknown, otherwise: string, place?: DatabasePlace): PronghornError {
  const details = place === undefined ? {} : { user: place.user, database: place.database }
  if (cause instanceof PronghornError) return cause.addDetails(details)
  if (isUnencrypted(cause)) {
    const message = `${serverOf(place)} cannot be reached over TLS as sqldb.ssl requires`
    return new RetryableError('DATABASE_TLS', message, { cause, details })
  }
  if (isRefused(cause)) {
    const message = `${serverOf(place)} refuses connections`
    return new RetryableError('DATABASE_REFUSED', message, { details })
  }
  const found = knownFailure(cause)
  if (found === undefined)
    return new RetryableError('DATABASE_UNAVAILABLE', `${otherwise}${atPlace(place)}`, { cause, details })
  const Kind = found.isLasting ? FatalError : RetryableError
  return new Kind(found.code, found.message(place), {
    cause,
    details: { ...details, ...factsOf(found, cause) },
  })
}

function factsOf({ details }: Known, cause: unknown): ErrorDetails {
  return cause instanceof Error ? (details?.(cause) ?? {}) : {}
}

function atPlace(place: DatabasePlace | undefined): string {
  return place === undefined ? '' : ` (${place.database} at ${place.host}:${place.port} as ${place.user})`
}

/** Whether the connection was refused: by one address, or by all addresses of a host name. */
function isRefused(cause: unknown): boolean {
  const errors: unknown[] = cause instanceof AggregateError ? cause.errors : [cause]
  return (
    errors.length > 0 &&
    errors.every((error) => (error as { code?: unknown } | null)?.code === 'ECONNREFUSED')
  )
}

/** Error codes of Node.js and OpenSSL for an untrusted or expired certificate, or a certificate of another host. */
const CERTIFICATE_CODES = /CERT|UNABLE_TO_|^ERR_(?:SSL|TLS|OSSL)_|^EPROTO$/

/** Whether the connection failed because of encryption: the server offers none, or a certificate was not accepted. */
function isUnencrypted(cause: unknown): boolean {
  if (!(cause instanceof Error) || cause instanceof pg.DatabaseError) return false
  const { code } = cause as NodeJS.ErrnoException
  return CERTIFICATE_CODES.test(code ?? '') || /SSL connection/.test(cause.message)
}

/**
 * Finds the cause that an operator has to fix, such as a full disk or a server that became a replica; undefined for
 * other errors.
 */
export function knownFailure(cause: unknown): Known | undefined {
  if (!(cause instanceof pg.DatabaseError)) return undefined
  return known[NO_SPACE.test(cause.message) ? '53100' : (cause.code ?? '')]
}

/** Oldest supported major version of PostgreSQL. */
const OLDEST_VERSION = 14

/**
 * Refuses a server or database that cannot hold the schema.
 * @throws FatalError `DATABASE_VERSION`, `DATABASE_ENCODING`.
 */
export async function checkServer(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number; encoding: string; name: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
       current_setting('server_encoding') AS encoding, current_database()::text AS name`,
  )
  const { version, number, encoding, name } = rows[0]!
  if (number < OLDEST_VERSION * 10_000)
    throw new FatalError(
      'DATABASE_VERSION',
      `the server runs PostgreSQL ${version}, but ${OLDEST_VERSION} or later is required`,
    )
  if (encoding !== 'UTF8')
    throw new FatalError(
      'DATABASE_ENCODING',
      `database ${name} stores text as ${encoding}, but UTF8 is required`,
    )
}

/** Adds the purpose of the statement to an error whose cause an operator has to fix. Returns other errors unchanged. */
export function explainDatabaseError(cause: unknown, doing: string): unknown {
  const found = knownFailure(cause)
  if (found === undefined) return cause
  const Kind = found.isLasting ? FatalError : RetryableError
  return new Kind(found.code, `${found.message(undefined)} while ${doing}`, {
    cause,
    details: { doing, ...factsOf(found, cause) },
  })
}
