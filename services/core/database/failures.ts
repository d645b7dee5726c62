import pg from 'pg'
import { FatalError, PronghornError, RetryableError } from '../errors/index.ts'
import type { ErrorCode } from '../errors/index.ts'
import type { DatabaseAddress } from './connection.ts'

/** The database that an error is about; unknown inside of a session. */
type DatabasePlace = Pick<DatabaseAddress, 'host' | 'port' | 'user' | 'database'>

interface Known {
  readonly code: ErrorCode
  /** Names the place where it is known. */
  readonly message: (place: DatabasePlace | undefined) => string
  /** True: waiting cannot help, somebody has to change something. */
  readonly isLasting?: true
}

const serverOf = (place: DatabasePlace | undefined): string =>
  place === undefined ? 'PostgreSQL' : `PostgreSQL at ${place.host}:${place.port}`
const loginRefused: Known = {
  code: 'DATABASE_LOGIN_REFUSED',
  message: (place) =>
    `${serverOf(place)} refuses the login${place === undefined ? '' : ` of user ${place.user} to database ${place.database}`}`,
}

/** Answers of the server that an operator causes, by SQLSTATE. */
const known: Readonly<Record<string, Known>> = {
  '53100': { code: 'DISK_FULL', message: () => 'the database has no disk space left' },
  '53300': { code: 'DATABASE_CONNECTIONS', message: (place) => `${serverOf(place)} has no connection left` },
  '57P03': { code: 'DATABASE_UNAVAILABLE', message: (place) => `${serverOf(place)} is starting or stopping` },
  '25006': { code: 'DATABASE_READ_ONLY', message: (place) => `${serverOf(place)} takes no writes` },
  '28P01': loginRefused,
  '28000': loginRefused,
  '3D000': {
    code: 'DATABASE_MISSING',
    message: (place) => `${serverOf(place)} has no database ${place?.database ?? 'of this name'}`,
  },
  '42501': {
    code: 'DATABASE_PERMISSION',
    message: (place) => `the database user${place === undefined ? '' : ` ${place.user}`} lacks a right`,
    isLasting: true,
  },
}

/** Codes of all causes that an operator has to mend. */
export const operatorFailures: readonly ErrorCode[] = Object.values(known).map(({ code }) => code)

/** What the system says where the server could only pass it on. */
const NO_SPACE = /No space left on device|Disk quota exceeded/

/**
 * An error of the database with the code that names its cause: retryable unless somebody has to change something.
 *
 * @param otherwise the message for a cause that is not known.
 */
export function databaseFailure(cause: unknown, otherwise: string, place?: DatabasePlace): PronghornError {
  const details = place === undefined ? {} : { user: place.user, database: place.database }
  if (cause instanceof PronghornError) return cause
  if (isUnencrypted(cause)) {
    const message = `${serverOf(place)} cannot be reached over TLS as sqldb.ssl asks`
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
  return new Kind(found.code, found.message(place), { cause, details })
}

function atPlace(place: DatabasePlace | undefined): string {
  return place === undefined ? '' : ` (${place.database} at ${place.host}:${place.port} as ${place.user})`
}

/** A refused connection, to one address or to each address of a name. */
function isRefused(cause: unknown): boolean {
  const errors: unknown[] = cause instanceof AggregateError ? cause.errors : [cause]
  return (
    errors.length > 0 &&
    errors.every((error) => (error as { code?: unknown } | null)?.code === 'ECONNREFUSED')
  )
}

/** Error codes of Node.js and OpenSSL for a certificate that is not trusted, has ended or is of another host. */
const CERTIFICATE_CODES = /CERT|UNABLE_TO_|^ERR_(?:SSL|TLS|OSSL)_|^EPROTO$/

/** A connection that ended because of its encryption: the server has none, or a certificate is not accepted. */
function isUnencrypted(cause: unknown): boolean {
  if (!(cause instanceof Error) || cause instanceof pg.DatabaseError) return false
  const { code } = cause as NodeJS.ErrnoException
  return CERTIFICATE_CODES.test(code ?? '') || /SSL connection/.test(cause.message)
}

/** The cause that an operator has to mend, if the error has one: a full disk, a server that has become a replica. */
export function knownFailure(cause: unknown): Known | undefined {
  if (!(cause instanceof pg.DatabaseError)) return undefined
  return known[NO_SPACE.test(cause.message) ? '53100' : (cause.code ?? '')]
}

/** Oldest major version of PostgreSQL that the schema works with. */
const OLDEST_VERSION = 14

/**
 * Refuses a server or database that the schema cannot work in.
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
      `the server is PostgreSQL ${version}, needed is ${OLDEST_VERSION} or later`,
    )
  if (encoding !== 'UTF8')
    throw new FatalError('DATABASE_ENCODING', `database ${name} stores text as ${encoding}, needed is UTF8`)
}

/** The error of a statement that has a purpose: with the code of a cause that an operator has to mend, else as it is. */
export function explainDatabaseError(cause: unknown, doing: string): unknown {
  const found = knownFailure(cause)
  if (found === undefined) return cause
  const Kind = found.isLasting ? FatalError : RetryableError
  return new Kind(found.code, `${found.message(undefined)} while ${doing}`, { cause, details: { doing } })
}
