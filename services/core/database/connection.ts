import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { sslOptions } from './encryption.ts'
import type { DatabaseSsl } from './encryption.ts'
import { repeatWhileLate } from './late-loop.ts'

/** Where a PostgreSQL database is; the keys are those of `sqldb` in connections.config.json. */
export interface DatabaseAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** Read for each new connection; where it is there, its content counts instead of `password`. */
  readonly password_file?: string | undefined
  /** Absent: not encrypted. */
  readonly ssl?: DatabaseSsl | undefined
}

/** Limits of a connection or pool. */
export interface DatabaseLimits {
  /** Shown in pg_stat_activity. */
  readonly applicationName: string
  /** Longest run of one statement; 0 or absent = no limit. */
  readonly statementTimeoutMs?: number
  /** Settings of the server for these sessions, for example `{ jit: 'off' }`; names and values without quotes. */
  readonly settings?: Readonly<Record<string, string>>
  /** Default 10 seconds; tests shorten it. */
  readonly connectTimeoutMs?: number
}

const CONNECT_TIMEOUT_MS = 10_000
/** Idle time after which TCP asks whether the server is still there. */
const KEEP_ALIVE_DELAY_MS = 10_000
const INT8_OID = 20

/** Parses 64-bit integers to bigint; everything else as `pg` does. */
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
    // A password that is replaced while the process runs counts from the next connection on.
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
 * Sets what holds for a session. As parameters of the start the same settings would be refused by PgBouncer, which knows few.
 */
async function setUp(client: pg.ClientBase, limits: DatabaseLimits): Promise<void> {
  const settings = {
    ...limits.settings,
    ...(limits.statementTimeoutMs ? { statement_timeout: String(limits.statementTimeoutMs) } : {}),
  }
  const statements = Object.entries(settings).map(([name, value]) => `SET ${name} = '${value}'`)
  if (statements.length > 0) await client.query(statements.join('; '))
}

/**
 * Opens one connection. 64-bit integers come back as bigint. When it breaks while it is idle, the next statement
 * fails.
 */
export function connectDatabase(address: DatabaseAddress, limits: DatabaseLimits): Promise<pg.Client> {
  return repeatWhileLate(async () => {
    const client = new pg.Client(clientConfig(address, limits))
    // It can break before its caller has it: an error event without a listener ends the process.
    client.on('error', () => undefined)
    await client.connect()
    await setUp(client, limits)
    return client
  })
}

type Connected = Parameters<pg.Pool['connect']>[0]

/** A pool whose time limit for a connection counts only time in which the event loop runs. */
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
 * Creates a pool of at most `max` connections. 64-bit integers come back as bigint. An idle connection that breaks is
 * dropped silently: the next query opens another. Of one in use, the next statement fails.
 */
export function createPool(
  address: DatabaseAddress,
  limits: DatabaseLimits & { readonly max: number },
): pg.Pool {
  // The pool awaits it, which its type does not say.
  const onConnect: object = { onConnect: (client: pg.ClientBase) => setUp(client, limits) }
  const pool = new PatientPool({
    ...clientConfig(address, limits),
    max: limits.max,
    idleTimeoutMillis: 60_000,
    ...onConnect,
  })
  pool.on('error', () => undefined)
  // The pool listens to idle connections alone. One in use can break between two statements, too.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
