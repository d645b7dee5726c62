import type pg from 'pg'
import { RetryableError } from '../errors/index.ts'

/** Table of the applied migrations. */
export const MIGRATIONS = 'pronghorn_migrations'
/** Schema that contains the table of the applied migrations until the restore has ended. */
export const RESTORE_SCHEMA = 'restore'

/**
 * Query that returns a row while a restore is unfinished. Reads `pg_class`, because `to_regclass` would need
 * a privilege on the schema.
 */
export const FIND_RESTORE = `SELECT FROM pg_catalog.pg_class WHERE relname = '${MIGRATIONS}'
  AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = '${RESTORE_SCHEMA}')`

/** Throws if the result of `FIND_RESTORE` has a row. @throws RetryableError `RESTORE_UNFINISHED`. */
export function refuseFoundRestore({ rowCount }: pg.QueryResult): void {
  if (rowCount !== 0)
    throw new RetryableError(
      'RESTORE_UNFINISHED',
      'the database is being restored; the restore is unfinished',
    )
}

/** Refuses a database whose restore is unfinished. @throws RetryableError `RESTORE_UNFINISHED`. */
export async function refuseUnfinishedRestore(client: pg.ClientBase | pg.Pool): Promise<void> {
  refuseFoundRestore(await client.query(FIND_RESTORE))
}
