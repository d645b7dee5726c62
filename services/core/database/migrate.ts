import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { FatalError } from '../errors/index.ts'
import { packageRoot } from '../paths/index.ts'

/** One numbered file of `migrations/`. */
interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

/** Any number, the same in all versions: whoever migrates holds this advisory lock. */
const MIGRATION_LOCK = 0x50524f4e

/** Reads the numbered SQL files, ascending. */
async function readMigrations(): Promise<Migration[]> {
  const folder = join(packageRoot, 'services/core/database/migrations')
  const files = (await readdir(folder)).filter((file) => /^\d{4}_.*\.sql$/.test(file)).sort()
  return Promise.all(
    files.map(async (file) => {
      const sql = await readFile(join(folder, file), 'utf8')
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
 * Brings the database to the newest schema. Each file runs in a transaction of its own, recorded first so that a
 * second run at the same time would fail instead of doing it twice; a lock makes it wait in the first place.
 *
 * @returns the numbers of the files that were applied now.
 * @throws FatalError `DATABASE_TOO_NEW` when the database was migrated by a newer version, `MIGRATION_FAILED` when an
 *   applied file differs from the one here or when one fails; the message names the file.
 */
export async function migrate(client: pg.ClientBase): Promise<number[]> {
  const known = await readMigrations()
  await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
  try {
    await client.query(`CREATE TABLE IF NOT EXISTS public.pronghorn_migrations (
      number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
    const { rows } = await client.query<{ number: number; name: string; checksum: string }>(
      'SELECT number, name, checksum FROM public.pronghorn_migrations ORDER BY number',
    )
    checkApplied(known, rows)
    const applied = new Set(rows.map((row) => row.number))
    const pending = known.filter((migration) => !applied.has(migration.number))
    for (const migration of pending) await applyMigration(client, migration)
    return pending.map((migration) => migration.number)
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK])
  }
}

function checkApplied(
  known: readonly Migration[],
  applied: readonly { number: number; name: string; checksum: string }[],
): void {
  for (const row of applied) {
    const file = known.find((migration) => migration.number === row.number)
    if (!file) {
      throw new FatalError(
        'DATABASE_TOO_NEW',
        `the database has schema migration ${row.number} (${row.name}), which this version does not know: use a newer version`,
      )
    }
    if (file.checksum !== row.checksum) {
      throw new FatalError(
        'MIGRATION_FAILED',
        `schema migration ${row.number} (${row.name}) was applied with other content than this version has`,
      )
    }
  }
}

async function applyMigration(client: pg.ClientBase, migration: Migration): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query(
      'INSERT INTO public.pronghorn_migrations (number, name, checksum) VALUES ($1, $2, $3)',
      [migration.number, migration.name, migration.checksum],
    )
    await client.query(migration.sql)
    await client.query('COMMIT')
  } catch (cause) {
    await client.query('ROLLBACK')
    throw new FatalError(
      'MIGRATION_FAILED',
      `schema migration ${migration.number} (${migration.name}) failed`,
      { cause },
    )
  }
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
