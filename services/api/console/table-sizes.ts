import type { RequestDatabase, Session } from '../database/index.ts'
import type { DatabaseView } from './data.ts'

/** Time limit of a measurement, ms. */
export const TIMEOUT_MS = 3_000
/** It must not queue behind a change of the schema. */
const LOCK_TIMEOUT_MS = 250

/**
 * Sizes come from the files' lengths: nothing of a table is read. Partitions count for the table that they are of.
 */
const SIZES = `
  WITH parts AS (
    SELECT coalesce(pg_partition_root(c.oid), c.oid) AS root, c.oid,
      CASE WHEN c.relkind <> 'p' AND c.reltuples >= 0 THEN c.reltuples END AS tuples
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'm', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
  )
  SELECT n.nspname, r.relname,
    sum(p.tuples)::bigint::text,
    sum(coalesce(pg_table_size(p.oid), 0))::text, sum(coalesce(pg_indexes_size(p.oid), 0))::text,
    pg_database_size(current_database())::text
  FROM parts p JOIN pg_class r ON r.oid = p.root JOIN pg_namespace n ON n.oid = r.relnamespace
  GROUP BY 1, 2 ORDER BY sum(pg_total_relation_size(p.oid)) DESC, 1, 2`

type SizeRow = [string, string, string | null, string, string, string]

/** Measures the tables of the program, within a time limit.
 * @throws RetryableError when the database is unavailable, busy or too slow.
 */
export function measureTables(database: RequestDatabase): Promise<DatabaseView> {
  return database.run(
    async (session) => {
      const rows = await withinLimits(session, () => session.query<SizeRow>({ text: SIZES, values: [] }))
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
    // A connection that broke meanwhile is discarded by its pool.
    await run('ROLLBACK').catch(() => undefined)
  }
}
