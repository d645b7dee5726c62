import type { DatabaseAddress } from '../../../core/database/index.ts'
import { FatalError } from '../../../core/errors/index.ts'

const DEFAULT_PORT = 5432

/**
 * Parses the address of the source database, `postgres://user:password@host:port/name`. With a parameter `?host=`, the
 * host is the folder of a Unix socket.
 *
 * @throws FatalError `USAGE` naming the mistake but not the address, which may contain a password.
 */
export function parseSourceAddress(text: string): DatabaseAddress {
  // The address of a database on a Unix socket may have no host, but `URL` requires a host: insert `localhost`.
  const whole = text.replace(/^(postgres(?:ql)?:\/\/[^@/]+@)\//, '$1localhost/')
  const url = URL.canParse(whole) ? new URL(whole) : null
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    throw new FatalError('USAGE', 'the source is not an address like postgres://user:password@host:5432/name')
  const database = decoded(url.pathname.slice(1))
  if (database === '' || url.username === '')
    throw new FatalError('USAGE', 'the address of the source lacks the user or the name of the database')
  for (const key of url.searchParams.keys())
    if (key !== 'host')
      throw new FatalError('USAGE', `the address of the source has the unknown parameter ${key}`)
  return {
    host: url.searchParams.get('host') ?? decoded(url.hostname || 'localhost'),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    user: decoded(url.username),
    password: decoded(url.password),
    database,
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new FatalError('USAGE', 'a % in the address of the source has to be written as %25')
  }
}

/** Formats the address of the source database for reports, without the password. */
export function describeAddress({ host, port, user, database }: DatabaseAddress): string {
  return `${user}@${host}:${port}/${database}`
}
