import type pg from 'pg'
import { FatalError } from '../errors/index.ts'
import { refuseMissingColumns, refuseMissingTables } from './created-tables.ts'
import { isMigrated } from './migrate.ts'

/**
 * Refuses a database that lacks migrations of this version, has a schema of a later version, or lost a table or a
 * column.
 *
 * @param options.mayBeLater accept a schema of a later version, because services of this version work with such a
 * schema. A later schema is not searched for lost tables and columns.
 * @throws FatalError `DATABASE_TOO_OLD`, `DATABASE_TOO_NEW`, `DATABASE_TABLE_MISSING`, `DATABASE_COLUMN_MISSING`,
 * `MIGRATION_FAILED`; RetryableError `RESTORE_UNFINISHED`.
 */
export async function requireSchema(client: pg.ClientBase, { mayBeLater = false } = {}): Promise<void> {
  if (!(await isMigrated(client, { isStrict: !mayBeLater })))
    throw new FatalError(
      'DATABASE_TOO_OLD',
      'the database is empty, or lacks schema migrations of this program version',
    )
  if (mayBeLater) return
  await refuseMissingTables(client)
  await refuseMissingColumns(client)
}
