import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { FatalError, PronghornError } from '../errors/index.ts'
import { packageRoot } from '../paths/index.ts'
import { retry } from '../retry/index.ts'
import { checkServer, explainDatabaseError } from './failures.ts'
import { MIGRATIONS, refuseUnfinishedRestore, RESTORE_SCHEMA } from './unfinished-restore.ts'

export interface AppliedMigration {
  readonly number: number
  readonly name: string
  /** SHA-256 of the file, 64 hexadecimal digits. */
  readonly checksum: string
}

/** A numbered SQL file of `migrations/`. */
interface Migration extends AppliedMigration {
  readonly sql: string
}

const migrationsFolder = join(packageRoot, 'services/core/database/migrations')

/** Key of the advisory lock that a running migration holds: an arbitrary number, equal in all versions. */
const MIGRATION_LOCK = 0x50524f4e

/** Versions before 1.0.0 used lower migration numbers. */
const FIRST_MIGRATION = 1000

/** Table of the applied migrations. */
export const HISTORY = `public.${MIGRATIONS}`

/**
 * Table of the applied migrations while a restore is unfinished. `HISTORY` does not exist until the restore is
 * complete, so no process serves the database.
 */
export const RESTORE_HISTORY = `${RESTORE_SCHEMA}.${MIGRATIONS}`

/** Reads the numbered SQL files in ascending order. */
export async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(migrationsFolder)).filter((file) => /^\d{4}_.*\.sql$/.test(file)).sort()
  return Promise.all(
    files.map(async (file) => {
      const sql = await readFile(join(migrationsFolder, file), 'utf8')
      return {
        number: Number(file.slice(0, 4)),
        name: file.slice(5, -4),
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
      }
    }),
  )
}

/**
 * Migrates the database to the newest schema. All files run in one transaction, so that the previous version can
 * continue if a file fails. A concurrent run waits. If PostgreSQL does not grant a lock within half a second, the
 * migration gives up the lock request and starts again, because API requests queue behind a waiting lock request.
 *
 * @returns numbers of the files that were applied by this call.
 * @throws FatalError `DATABASE_TOO_NEW` if a newer version migrated the database.
 * @throws FatalError `MIGRATION_FAILED` if an applied file differs from the file of this version, if the database is of
 * a version before 1.0.0, or if a file fails; the message names the file.
 * @throws RetryableError `RESTORE_UNFINISHED`.
 * @throws the error of a cause that an operator has to fix (`DISK_FULL`, `DATABASE_PERMISSION`, `DATABASE_VERSION`,
 * `DATABASE_ENCODING`, ...).
 */
export async function migrate(client: pg.ClientBase): Promise<number[]> {
  await checkServer(client)
  await refuseUnfinishedRestore(client)
  return migrateWith(client, HISTORY)
}

/** Migrates a database of an unfinished restore to the newest schema. @throws see `migrate`. */
export function migrateRestored(client: pg.ClientBase): Promise<number[]> {
  return migrateWith(client, RESTORE_HISTORY)
}

async function migrateWith(client: pg.ClientBase, history: string): Promise<number[]> {
  const known = await readMigrations()
  await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
  try {
    await createHistory(client, history)
    const rows = await readApplied(client, history)
    checkApplied(known, rows)
    const applied = new Set(rows.map((row) => row.number))
    const pending = known.filter((migration) => !applied.has(migration.number))
    await applyPatiently(client, pending, history)
    return pending.map((migration) => migration.number)
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK])
  }
}

/** Reads the applied migrations of a migrated database, ascending. */
export async function readApplied(
  client: pg.ClientBase | pg.Pool,
  history = HISTORY,
): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    `SELECT number, name, checksum FROM ${history} ORDER BY number`,
  )
  return rows
}

/** Creates the table of the applied migrations. */
export async function createHistory(client: pg.ClientBase, history: string): Promise<void> {
  try {
    await client.query(`CREATE TABLE IF NOT EXISTS ${history} (
      number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
  } catch (error) {
    throw explainDatabaseError(error, 'creating the tables')
  }
}

/**
 * Checks that this version knows every applied migration, with the same content.
 *
 * @throws FatalError `DATABASE_TOO_NEW`, `MIGRATION_FAILED`.
 */
export function checkApplied(known: readonly Migration[], applied: readonly AppliedMigration[]): void {
  for (const { number, name, checksum } of applied) {
    if (number < FIRST_MIGRATION) {
      throw new FatalError(
        'MIGRATION_FAILED',
        `the database is of a version before 1.0.0 (schema migration ${number}), which this version cannot upgrade: index the chain into a new database`,
      )
    }
    const file = known.find((migration) => migration.number === number)
    if (!file) {
      throw new FatalError(
        'DATABASE_TOO_NEW',
        `the database has schema migration ${number} (${name}), which this version does not know`,
      )
    }
    if (file.checksum !== checksum) {
      throw new FatalError(
        'MIGRATION_FAILED',
        `schema migration ${number} (${name}) was applied with other content than this version has`,
      )
    }
  }
}

/**
 * Maximum time in ms that a migration waits for a lock: later statements on the table queue behind the lock request.
 */
const LOCK_TIMEOUT_MS = 500
/** Pause in ms before the migration starts again after a lock was not granted in time. */
const LOCK_PAUSE_MS = 500
/** Maximum number of attempts to migrate if a lock is not granted in time. */
const LOCK_ATTEMPTS = 60
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Applies all files in one transaction. Starts again with the first file if another session held a lock for too long.
 */
async function applyPatiently(
  client: pg.ClientBase,
  pending: readonly Migration[],
  history: string,
): Promise<void> {
  if (pending.length === 0) return
  await retry(() => applyAll(client, pending, history), {
    firstMs: LOCK_PAUSE_MS,
    attempts: LOCK_ATTEMPTS,
    mayPass: isLockTimeout,
  })
}

/** Applies a migration within a transaction of the caller. */
export async function applyMigration(
  client: pg.ClientBase,
  { number, name, checksum, sql }: Migration,
  history: string,
): Promise<void> {
  await client.query(`INSERT INTO ${history} (number, name, checksum) VALUES ($1, $2, $3)`, [
    number,
    name,
    checksum,
  ])
  await client.query(sql)
}

async function applyAll(
  client: pg.ClientBase,
  pending: readonly Migration[],
  history: string,
): Promise<void> {
  let current: Migration | undefined
  await client.query('BEGIN')
  try {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    for (const migration of pending) {
      current = migration
      await applyMigration(client, migration, history)
    }
    await client.query('COMMIT')
  } catch (cause) {
    await client.query('ROLLBACK')
    const known = explainDatabaseError(cause, 'creating or updating the tables')
    if (known instanceof PronghornError) throw known
    throw new FatalError(
      'MIGRATION_FAILED',
      `schema migration ${current?.number ?? 0} (${current?.name ?? 'none'}) failed; the database is as it was before`,
      { cause },
    )
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof FatalError && (error.cause as { code?: unknown }).code === LOCK_NOT_AVAILABLE
}

/**
 * Whether all migrations of this version have been applied.
 *
 * @param options.isStrict refuse a schema that this version does not know, because such a schema may have columns that
 * no check covers.
 * @throws RetryableError `RESTORE_UNFINISHED`; FatalError `DATABASE_TOO_NEW`, `MIGRATION_FAILED` if strict.
 */
export async function isMigrated(
  client: pg.ClientBase | pg.Pool,
  { isStrict = false } = {},
): Promise<boolean> {
  await refuseUnfinishedRestore(client)
  const known = await readMigrations()
  const { rows } = await client.query<{ present: string | null }>(
    "SELECT to_regclass('public.pronghorn_migrations')::text AS present",
  )
  if (!rows[0]?.present) return false
  const applied = await readApplied(client)
  if (isStrict) checkApplied(known, applied)
  const numbers = new Set(applied.map(({ number }) => number))
  return known.every((migration) => numbers.has(migration.number))
}
