import { TABLE_SIZES } from '../../core/upkeep/index.ts'
import type { TableSizeRow } from '../../core/upkeep/index.ts'
import type { RequestDatabase, Session } from '../database/index.ts'
import type { DatabaseView } from './data.ts'

/** Time limit of a measurement of the table sizes, ms. */
export const TIMEOUT_MS = 3_000
/**
 * Lock timeout, ms. A measurement that waits for a lock behind a schema change would block the queries that come after
 * it.
 */
const LOCK_TIMEOUT_MS = 250

/**
 * Measures the tables of this program within `TIMEOUT_MS`.
 * @throws RetryableError if the database is unavailable, busy or too slow.
 */
export function measureTables(database: RequestDatabase): Promise<DatabaseView> {
  return database.run(
    async (session) => {
      const rows = await withinLimits(session, () =>
        session.query<TableSizeRow>({ text: TABLE_SIZES, values: [] }),
      )
      return {
        measured_at: Date.now(),
        total_bytes: rows[0]?.[5] ?? '0',
        tables: rows.map(([schema, name, estimate, table, index]) => ({
          schema,
          name,
          rows: estimate,
          table_bytes: table,
          index_bytes: index,
        })),
      }
    },
    { caller: 'console table sizes', reportsFailures: true },
  )
}

async function withinLimits<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const run = (text: string) => session.query({ text, values: [] })
  await run('BEGIN READ ONLY')
  await run(`SET LOCAL statement_timeout = ${TIMEOUT_MS}`)
  await run(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
  try {
    return await work()
  } finally {
    // The ROLLBACK fails if the connection is broken; the pool then discards the connection.
    await run('ROLLBACK').catch(() => undefined)
  }
}
