import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { sslOptions } from './encryption.ts'
import type { DatabaseSsl } from './encryption.ts'
import { repeatWhileLate } from './late-loop.ts'
import { FIND_RESTORE, refuseFoundRestore } from './unfinished-restore.ts'

/** Address of a PostgreSQL database, with the keys of `sqldb` in connections.config.json. */
export interface DatabaseAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** File with the password, read for each new connection; takes precedence over `password`. */
  readonly password_file?: string | undefined
  /** Encryption settings; absent = not encrypted. */
  readonly ssl?: DatabaseSsl | undefined
}

/** Limits and settings of a database connection or pool. */
export interface DatabaseLimits {
  /** Application name, shown in pg_stat_activity. */
  readonly applicationName: string
  /** Statement timeout in ms; 0 or absent = no limit. */
  readonly statementTimeoutMs?: number
  /** PostgreSQL settings of the sessions, for example `{ jit: 'off' }`; without quotes. */
  readonly settings?: Readonly<Record<string, string>>
  /** Connect timeout in ms; default 10 seconds. Tests shorten it. */
  readonly connectTimeoutMs?: number
  /**
   * Whether the session belongs to a restore, or inspects an unfinished restore. Other sessions are refused until the
   * restore ends.
   */
  readonly isOfRestore?: true
}

const CONNECT_TIMEOUT_MS = 10_000
/** TCP keep-alive delay: idle time before TCP probes the server. */
const KEEP_ALIVE_DELAY_MS = 10_000
const INT8_OID = 20

/** Parses 64-bit integers to bigint, and other types as `pg` does. */
const bigintTypes: pg.CustomTypesConfig = {
  getTypeParser: pickParser as typeof pg.types.getTypeParser,
}

function pickParser(oid: number, format?: string): unknown {
  const standard = pg.types.getTypeParser as (oid: number, format?: string) => unknown
  return oid === INT8_OID && format !== 'binary' ? BigInt : standard(oid, format)
}

function clientConfig(address: DatabaseAddress, limits: DatabaseLimits): pg.ClientConfig {
  const { host, port, user, database } = address
  return {
    ...{ host, port, user, database },
    // A function, so that a password that changes at run time applies to the next connection.
    password: () => readPassword(address),
    application_name: limits.applicationName,
    connectionTimeoutMillis: limits.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    types: bigintTypes,
    ssl: sslOptions(address.ssl),
  }
}

async function readPassword({ password, password_file: file }: DatabaseAddress): Promise<string> {
  if (file === undefined) return password
  return readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => password,
  )
}

/**
 * Applies the settings of a session by SET, because PgBouncer refuses most settings as startup parameters. Refuses a
 * database whose restore is unfinished.
 *
 * @throws RetryableError `RESTORE_UNFINISHED`.
 */
async function setUp(client: pg.ClientBase, limits: DatabaseLimits): Promise<void> {
  const settings = {
    ...limits.settings,
    ...(limits.statementTimeoutMs ? { statement_timeout: String(limits.statementTimeoutMs) } : {}),
  }
  const statements = Object.entries(settings).map(([name, value]) => `SET ${name} = '${value}'`)
  // Check each new session: a service that lost its sessions to a restore reconnects while the restore is unfinished.
  if (limits.isOfRestore !== true) statements.push(FIND_RESTORE)
  if (statements.length === 0) return
  // A query of several statements returns an array of results, one per statement.
  const found: unknown = await client.query(statements.join('; '))
  const last = (Array.isArray(found) ? found.at(-1) : found) as pg.QueryResult
  if (limits.isOfRestore !== true) refuseFoundRestore(last)
}

/**
 * Opens one connection. 64-bit integers are returned as bigint. If the connection breaks while idle, the next
 * statement fails.
 */
export function connectDatabase(address: DatabaseAddress, limits: DatabaseLimits): Promise<pg.Client> {
  return repeatWhileLate(async () => {
    const client = new pg.Client(clientConfig(address, limits))
    // The connection can break before the caller has added a listener, and an 'error' event without a listener ends the
    // process.
    client.on('error', () => undefined)
    await client.connect()
    try {
      await setUp(client, limits)
    } catch (error) {
      await client.end().catch(() => undefined)
      throw error
    }
    return client
  })
}

type Connected = Parameters<pg.Pool['connect']>[0]

/** A pool that tries to connect again if a connect timeout passed while the event loop of this process was blocked. */
class PatientPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const found = repeatWhileLate(() => super.connect())
    if (!callback) return found
    found.then(
      (client) => {
        callback(undefined, client, (release) => {
          client.release(release as boolean | Error | undefined)
        })
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), undefined, () => undefined)
      },
    )
    return undefined
  }
}

/**
 * Creates a pool of at most `max` connections. 64-bit integers are returned as bigint. A broken idle connection is
 * dropped silently, and the next query opens another; on a broken connection in use, the next statement fails.
 */
export function createPool(
  address: DatabaseAddress,
  limits: DatabaseLimits & { readonly max: number },
): pg.Pool {
  // `pg` awaits the promise of `onConnect` before it hands out the connection, although the type lacks this option.
  const onConnect: object = { onConnect: (client: pg.ClientBase) => setUp(client, limits) }
  const pool = new PatientPool({
    ...clientConfig(address, limits),
    max: limits.max,
    idleTimeoutMillis: 60_000,
    ...onConnect,
  })
  pool.on('error', () => undefined)
  // `pg` listens for errors of idle connections only. A connection in use can also break, between two statements.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
