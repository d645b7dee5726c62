import pg from 'pg'
import { createPool } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { describeError } from '../../core/errors/index.ts'
import type { Logger } from '../../core/log/index.ts'
import type { Queryable } from '../access/index.ts'
import { notReady, Refusal } from '../answers/index.ts'

/** Runs statements. A temporary failure is thrown as a refusal with status 503. */
export type StateSession = Queryable

/** The database for requests of the state service: single queries, or several queries in one snapshot. */
export interface StateDatabase extends StateSession {
  /** Runs reads that see one snapshot of the database. */
  snapshot<T>(work: (session: StateSession) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Time limit of a statement, ms. */
const STATEMENT_MS = 10_000
/** Queries that may wait for a database connection, for each connection of the pool. */
const WAITING_PER_CONNECTION = 20

/** Creates a connection pool, which connects at the first query. */
export function openStateDatabase(
  address: DatabaseAddress,
  maxConnections: number,
  logger: Logger,
): StateDatabase {
  const pool = createPool(address, {
    applicationName: 'pronghorn-state',
    statementTimeoutMs: STATEMENT_MS,
    max: maxConnections,
  })
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (pool.waitingCount > maxConnections * WAITING_PER_CONNECTION)
      throw notReady('Too many requests wait for the database.')
    try {
      return await work()
    } catch (error) {
      throw refusalOf(error, logger)
    }
  }
  return {
    query: (statement, values) => run(() => pool.query(statement, values)),
    snapshot: (work) => run(() => inSnapshot(pool, work)),
    close: () => pool.end(),
  }
}

async function inSnapshot<T>(pool: pg.Pool, work: (session: StateSession) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken = true
  // A connection that breaks between two statements emits `error`; without a listener the process would exit.
  const onBreak = (): void => {
    broken = true
  }
  client.on('error', onBreak)
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    try {
      const result = await work(client)
      await client.query('COMMIT')
      broken = false
      return result
    } catch (error) {
      if (error instanceof Refusal) {
        await client.query('ROLLBACK')
        broken = false
      }
      throw error
    }
  } finally {
    client.off('error', onBreak)
    client.release(broken)
  }
}

/** SQLSTATE classes of temporary errors: an identical request may succeed soon. */
const PASSING = /^(?:08|53|57P|40)/

function refusalOf(error: unknown, logger: Logger): unknown {
  if (error instanceof Refusal) return error
  const code = error instanceof pg.DatabaseError ? (error.code ?? '') : ''
  if (code === '57014')
    return new Refusal(503, 'app_query_timeout_error', 'The database took too long.', {
      headers: { 'Retry-After': '1' },
    })
  // The following errors are no outage of the database: this program has a defect, or PostgreSQL rejects the statement.
  if (error instanceof TypeError || error instanceof RangeError) return error
  if (code !== '' && !PASSING.test(code)) return error
  if (!(error instanceof Error) || error.name === 'DecodeError' || error.name === 'AbiError') return error
  logger.warn(`the database is unavailable: ${describeError(error)}`)
  return notReady('The database is unavailable.')
}
