import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { FatalError, PronghornError } from '../errors/index.ts'
import { packageRoot } from '../paths/index.ts'
import { retry } from '../retry/index.ts'
import { checkServer, explainDatabaseError } from './failures.ts'

/** One numbered file of `migrations/`. */
interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

const migrationsFolder = join(packageRoot, 'services/core/database/migrations')

/** Any number, the same in all versions: a migration holds this advisory lock. */
const MIGRATION_LOCK = 0x50524f4e

/** Versions before 1.0.0 had migrations with lower numbers. */
const FIRST_MIGRATION = 1000

/** Reads the numbered SQL files, ascending. */
async function readMigrations(): Promise<Migration[]> {
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
 * Brings the database to the newest schema, all or nothing: the files run in one transaction, so that the version before
 * can continue when one of them fails. A second run at the same time waits. Locks that are not granted within half a
 * second are given up and asked for again, because requests of the api queue behind them.
 *
 * @returns the numbers of the files that were applied now.
 * @throws the error of a cause that an operator has to mend (`DISK_FULL`, `DATABASE_PERMISSION`, `DATABASE_VERSION`,
 *   `DATABASE_ENCODING`, ...); FatalError `DATABASE_TOO_NEW` when the database was migrated by a newer version, `MIGRATION_FAILED` when an
 *   applied file differs from the one here, when the database is of a version before 1.0.0, or when a file fails; the
 *   message names the file.
 */
export async function migrate(client: pg.ClientBase): Promise<number[]> {
  const known = await readMigrations()
  await checkServer(client)
  await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
  try {
    await createHistory(client)
    const { rows } = await client.query<AppliedMigration>(
      'SELECT number, name, checksum FROM public.pronghorn_migrations ORDER BY number',
    )
    checkApplied(known, rows)
    const applied = new Set(rows.map((row) => row.number))
    const pending = known.filter((migration) => !applied.has(migration.number))
    await applyPatiently(client, pending)
    return pending.map((migration) => migration.number)
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK])
  }
}

async function createHistory(client: pg.ClientBase): Promise<void> {
  try {
    await client.query(`CREATE TABLE IF NOT EXISTS public.pronghorn_migrations (
      number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
  } catch (error) {
    throw explainDatabaseError(error, 'creating the tables')
  }
}

interface AppliedMigration {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

/** Every applied migration has to be one that this version knows, with the same content. */
function checkApplied(known: readonly Migration[], applied: readonly AppliedMigration[]): void {
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

/** Longest that a migration waits for a lock, ms: later statements on the same table queue behind it. */
const LOCK_TIMEOUT_MS = 500
/** Pause before it tries again, and how often. */
const LOCK_PAUSE_MS = 500
const LOCK_ATTEMPTS = 60
const LOCK_NOT_AVAILABLE = '55P03'

/** Applies files in one transaction, and again from the first when a reader of the database held a lock for too long. */
async function applyPatiently(client: pg.ClientBase, pending: readonly Migration[]): Promise<void> {
  if (pending.length === 0) return
  await retry(() => applyAll(client, pending), {
    firstMs: LOCK_PAUSE_MS,
    attempts: LOCK_ATTEMPTS,
    mayPass: isLockTimeout,
  })
}

async function applyAll(client: pg.ClientBase, pending: readonly Migration[]): Promise<void> {
  let current: Migration | undefined
  await client.query('BEGIN')
  try {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    for (const migration of pending) {
      current = migration
      await client.query(
        'INSERT INTO public.pronghorn_migrations (number, name, checksum) VALUES ($1, $2, $3)',
        [migration.number, migration.name, migration.checksum],
      )
      await client.query(migration.sql)
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

/** True when every migration that this version knows has been applied. */
export async function isMigrated(client: pg.ClientBase | pg.Pool): Promise<boolean> {
  const known = await readMigrations()
  const { rows } = await client.query<{ present: string | null }>(
    "SELECT to_regclass('public.pronghorn_migrations')::text AS present",
  )
  if (!rows[0]?.present) return false
  const applied = await client.query<{ number: number }>('SELECT number FROM public.pronghorn_migrations')
  const numbers = new Set(applied.rows.map((row) => row.number))
  return known.every((migration) => numbers.has(migration.number))
}
