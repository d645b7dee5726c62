import type pg from 'pg'
import { FatalError } from '../../errors/index.ts'
import {
  applyMigration,
  checkApplied,
  createHistory,
  HISTORY,
  readMigrations,
  RESTORE_HISTORY,
} from '../migrate.ts'
import type { AppliedMigration } from '../migrate.ts'
import { RESTORE_SCHEMA } from '../unfinished-restore.ts'

/** Checks that this version knows the migrations. @throws FatalError `DATABASE_TOO_NEW`, `MIGRATION_FAILED`. */
export async function checkMigrations(applied: readonly AppliedMigration[]): Promise<void> {
  checkApplied(await readMigrations(), applied)
}

/** Whether all migrations of this version have been applied. */
export async function isNewest(applied: readonly AppliedMigration[]): Promise<boolean> {
  return (await readMigrations()).length === applied.length
}

/**
 * Replaces all schemas by empty schemas with the given migrations, within a transaction of the caller. The applied
 * migrations stay in the schema of the restore until `publishSchema`.
 *
 * @throws FatalError `RESTORE_TARGET_FILLED` if one of the schemas belongs to another program.
 */
export async function recreateSchema(
  client: pg.ClientBase,
  wanted: readonly AppliedMigration[],
): Promise<void> {
  const known = await readMigrations()
  const schemas = known.flatMap(({ sql }) =>
    [...sql.matchAll(/^CREATE SCHEMA (\w+);/gm)].map(([, name]) => name!),
  )
  await refuseForeignSchemas(client, schemas)
  await client.query(`DROP SCHEMA IF EXISTS ${[RESTORE_SCHEMA, ...schemas].join(', ')} CASCADE`)
  await client.query(`DROP TABLE IF EXISTS ${HISTORY}`)
  await client.query(`CREATE SCHEMA ${RESTORE_SCHEMA}`)
  await createHistory(client, RESTORE_HISTORY)
  const numbers = new Set(wanted.map(({ number }) => number))
  for (const migration of known)
    if (numbers.has(migration.number)) await applyMigration(client, migration, RESTORE_HISTORY)
}

async function refuseForeignSchemas(client: pg.ClientBase, schemas: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT nspname AS name FROM pg_namespace WHERE nspname = ANY ($1) AND NOT EXISTS (
       SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname || '.' || c.relname = ANY ($2)) ORDER BY 1`,
    [schemas, [HISTORY, RESTORE_HISTORY]],
  )
  if (rows.length > 0)
    throw new FatalError(
      'RESTORE_TARGET_FILLED',
      `the database has a schema ${rows[0]!.name} that another program created`,
    )
}

/**
 * Ends a restore, within a transaction of the caller. Once the transaction is committed, services accept the
 * database.
 */
export async function publishSchema(client: pg.ClientBase): Promise<void> {
  await client.query(`ALTER TABLE ${RESTORE_HISTORY} SET SCHEMA public`)
  await client.query(`DROP SCHEMA ${RESTORE_SCHEMA} CASCADE`)
}
