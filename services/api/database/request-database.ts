import type pg from 'pg'
import { createPool } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { describeError, PronghornError, RetryableError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { classifyProblem, queryError } from './problems.ts'
import type { Statement } from './statement.ts'

/** One connection, held for the statements of one request. */
export interface Session {
  /**
   * Runs a statement; each row is an array of its columns.
   * @throws RetryableError `QUERY_TIMEOUT`, `DATABASE_UNAVAILABLE`; FatalError `DATABASE_ERROR`.
   */
  query<Row extends readonly unknown[]>(statement: Statement): Promise<Row[]>
}

/** Settings of the request pool, named like their keys in server.config.json. */
export interface RequestDatabaseSettings {
  readonly address: DatabaseAddress
  /** `max_db_connections`. */
  readonly maxConnections: number
  /** `max_query_time_ms`: longest run of one statement. */
  readonly maxQueryTimeMs: number
  /** `slow_query_threshold`: a longer statement is logged; 0 = never. */
  readonly slowQueryMs: number
}

/** The database as requests see it: a pool with a bounded queue that refuses at once while the server is away. */
export interface RequestDatabase {
  /**
   * Runs work on a connection.
   * @throws RetryableError `DATABASE_BUSY` when too many wait already, `DATABASE_UNAVAILABLE` when the server is away.
   */
  run<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Told by whoever watches the server: while false, requests are refused without trying. */
  setAvailable(available: boolean): void
  readonly available: boolean
  /** Connections in use, idle, and requests that wait for one. */
  load(): { total: number; idle: number; waiting: number }
  close(): Promise<void>
}

/** Requests that may wait, for each connection; with the query time limit this bounds how long one waits. */
const WAITING_PER_CONNECTION = 4
/** The server ends a statement itself; this much later the client stops believing that it will. */
const SERVER_GRACE_MS = 1_000

/** Opens the request pool. Nothing is connected before the first request. */
export function openRequestDatabase(settings: RequestDatabaseSettings, logger: Logger): RequestDatabase {
  const pool = createPool(settings.address, {
    applicationName: 'pronghorn-api',
    statementTimeoutMs: settings.maxQueryTimeMs,
    max: settings.maxConnections,
  })
  const state = { available: true }
  const maxWaiting = Math.max(20, settings.maxConnections * WAITING_PER_CONNECTION)
  return {
    async run(work) {
      if (!state.available) throw new RetryableError('DATABASE_UNAVAILABLE', 'the database is away')
      if (pool.waitingCount >= maxWaiting) {
        throw new RetryableError('DATABASE_BUSY', `${maxWaiting} requests wait for a database connection`)
      }
      const client = await acquire(pool, state)
      return useClient(client, work, settings, state, logger)
    },
    setAvailable(available) {
      state.available = available
    },
    get available() {
      return state.available
    },
    load: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  }
}

async function acquire(pool: pg.Pool, state: { available: boolean }): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    const kind = classifyProblem(error)
    if (kind === 'away') state.available = false
    throw queryError(error, kind)
  }
}

async function useClient<T>(
  client: pg.PoolClient,
  work: (session: Session) => Promise<T>,
  settings: RequestDatabaseSettings,
  state: { available: boolean },
  logger: Logger,
): Promise<T> {
  let broken = false
  const session: Session = {
    async query(statement) {
      const started = performance.now()
      try {
        return await runStatement(client, statement, settings.maxQueryTimeMs + SERVER_GRACE_MS)
      } catch (error) {
        const kind = classifyProblem(error)
        // A timed-out or cut connection may still carry an answer to the old question.
        broken ||= kind !== 'value' && kind !== 'unknown'
        if (kind === 'away') state.available = false
        logger.warn({ err: describeError(error), query: statement.text }, 'Query exception')
        throw queryError(error, kind)
      } finally {
        logSlow(logger, statement, performance.now() - started, settings.slowQueryMs)
      }
    },
  }
  // A client that breaks between two statements tells so by an event, which would end the process unheard.
  const onBreak = (): void => {
    broken = true
  }
  client.on('error', onBreak)
  try {
    return await work(session)
  } catch (error) {
    broken ||= !(error instanceof PronghornError)
    throw error
  } finally {
    client.off('error', onBreak)
    client.release(broken)
  }
}

async function runStatement<Row extends readonly unknown[]>(
  client: pg.PoolClient,
  statement: Statement,
  timeoutMs: number,
): Promise<Row[]> {
  const config = {
    text: statement.text,
    values: [...statement.values],
    rowMode: 'array' as const,
    query_timeout: timeoutMs,
    ...(statement.name === undefined ? {} : { name: statement.name }),
  }
  const result = await client.query<unknown[]>(config)
  return result.rows as unknown as Row[]
}

function logSlow(logger: Logger, statement: Statement, elapsedMs: number, thresholdMs: number): void {
  if (thresholdMs === 0 || elapsedMs < thresholdMs) return
  logger.warn(
    { query: statement.text, values: JSON.stringify(statement.values.map(String)).slice(0, 1_000) },
    `Query took ${Math.round(elapsedMs)} ms`,
  )
}
