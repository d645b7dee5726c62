import type pg from 'pg'
import { FatalError } from '../errors/index.ts'
import { isMigrated } from './migrate.ts'

/**
 * Refuses a database that lacks migrations of this version, or has a schema of a later one.
 *
 * @param options.mayBeLater accept a schema of a later version: services of this version still work with it.
 * @throws FatalError `DATABASE_TOO_OLD`, `DATABASE_TOO_NEW`, `MIGRATION_FAILED`; RetryableError `RESTORE_UNFINISHED`.
 */
export async function requireSchema(client: pg.ClientBase, { mayBeLater = false } = {}): Promise<void> {
  if (await isMigrated(client, { isStrict: !mayBeLater })) return
  throw new FatalError('DATABASE_TOO_OLD', 'the database has no tables of this version yet')
}
