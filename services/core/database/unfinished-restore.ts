import type pg from 'pg'
import { RetryableError } from '../errors/index.ts'

/** Table of the applied migrations, and the schema of an unfinished restore that contains it until the end. */
export const MIGRATIONS = 'pronghorn_migrations'
export const RESTORE_SCHEMA = 'restore'

/** Has a row while a restore is unfinished. `to_regclass` would need a right on the schema. */
export const FIND_RESTORE = `SELECT FROM pg_catalog.pg_class WHERE relname = '${MIGRATIONS}'
  AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = '${RESTORE_SCHEMA}')`

/** @param found result of `FIND_RESTORE`. @throws RetryableError `RESTORE_UNFINISHED`. */
export function refuseFoundRestore({ rowCount }: pg.QueryResult): void {
  if (rowCount !== 0)
    throw new RetryableError(
      'RESTORE_UNFINISHED',
      'the database is being restored; the restore is unfinished',
    )
}

/** @throws RetryableError `RESTORE_UNFINISHED`. */
export async function refuseUnfinishedRestore(client: pg.ClientBase | pg.Pool): Promise<void> {
  refuseFoundRestore(await client.query(FIND_RESTORE))
}
