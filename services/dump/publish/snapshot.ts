import type pg from 'pg'
import { connectDatabase, databaseFailure } from '../../core/database/index.ts'
import type { DatabaseAddress } from '../../core/database/index.ts'
import { FatalError, PronghornError } from '../../core/errors/index.ts'
import { excludeOthers, noticeKills } from '../exclusive-run.ts'

const APPLICATION_NAME = 'pronghorn publish'
/** Two publications into one folder would remove each other's incomplete files. */
const LOCK = "pg_try_advisory_xact_lock(hashtextextended('pronghorn publish', 0))"
/**
 * Settings of the sessions. Values are printed in the format that seals are computed from. Parallel query plans are
 * off, because they would take processors from the running services.
 */
const settings = {
  extra_float_digits: '1',
  bytea_output: 'hex',
  DateStyle: 'ISO',
  TimeZone: 'UTC',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  // Time-outs that the server or the role sets would end a session that pauses, or that reads a large table.
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
}

/** Sessions that share one snapshot of the database. */
export interface Snapshot {
  readonly sessions: readonly pg.Client[]
  close(): Promise<void>
}

/**
 * Opens sessions in one snapshot, and holds the lock of publications until the sessions are closed.
 *
 * @throws FatalError `PUBLISH_FAILED` while another publication of the database runs; see `databaseFailure`.
 */
export async function openSnapshot(address: DatabaseAddress, count: number): Promise<Snapshot> {
  const sessions: pg.Client[] = []
  const close = async () => {
    await Promise.all(sessions.map((session) => session.end().catch(() => undefined)))
  }
  try {
    let snapshot: string | undefined
    for (let at = 0; at < count; at++) {
      const session = await connectDatabase(address, { applicationName: APPLICATION_NAME, settings })
      sessions.push(session)
      await noticeKills(session)
      await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      if (at === 0 && !(await excludeOthers(session, LOCK)))
        throw new FatalError('PUBLISH_FAILED', 'another publication of this database is running')
      if (snapshot !== undefined) await session.query(`SET TRANSACTION SNAPSHOT '${snapshot}'`)
      else if (count > 1) {
        const { rows } = await session.query<{ name: string }>('SELECT pg_export_snapshot() AS name')
        snapshot = rows[0]!.name
      }
    }
  } catch (error) {
    await close()
    if (error instanceof PronghornError) throw error
    throw databaseFailure(error, 'the database cannot be reached', address)
  }
  return { sessions, close }
}
