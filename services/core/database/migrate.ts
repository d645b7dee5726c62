import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
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

/** What brings a database that has an earlier content of a migration to the present one. */
interface Repair {
  readonly migration: Migration
  readonly sql: string
  /** Checksum of the earlier content. */
  readonly checksum: string
}

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

/** `NUMBER_CHECKSUM.sql`: the first digits of the earlier content's checksum. With `.again`, the migration runs after it. */
const repairName = /^(\d{4})_([0-9a-f]{12})(\.again)?\.sql$/

/**
 * Finds the repair of an applied migration whose content has changed since; a few did before the first release.
 * @returns undefined when there is none.
 */
async function findRepair(migration: Migration, checksum: string): Promise<Repair | undefined> {
  const folder = join(packageRoot, 'services/core/database/repairs')
  for (const file of await readdir(folder)) {
    const [, number, start, again] = repairName.exec(file) ?? []
    if (Number(number) !== migration.number || start === undefined || !checksum.startsWith(start)) continue
    const sql = await readFile(join(folder, file), 'utf8')
    return { migration, checksum, sql: again === undefined ? sql : `${sql}\n${migration.sql}` }
  }
  return undefined
}

/**
 * Brings the database to the newest schema, all or nothing: the files run in one transaction, so that the version before
 * can continue when one of them fails. A second run at the same time waits. Locks that are not granted within half a
 * second are given up and asked for again, because requests of the api queue behind them.
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
    const repairs = await findRepairs(known, rows)
    const applied = new Set(rows.map((row) => row.number))
    const pending = known.filter((migration) => !applied.has(migration.number))
    await applyPatiently(client, repairs, pending)
    return pending.map((migration) => migration.number)
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK])
  }
}

async function findRepairs(
  known: readonly Migration[],
  applied: readonly { number: number; name: string; checksum: string }[],
): Promise<Repair[]> {
  const repairs: Repair[] = []
  for (const row of applied) {
    const file = known.find((migration) => migration.number === row.number)
    if (!file) {
      throw new FatalError(
        'DATABASE_TOO_NEW',
        `the database has schema migration ${row.number} (${row.name}), which this version does not know: use a newer version`,
      )
    }
    if (file.checksum === row.checksum) continue
    const repair = await findRepair(file, row.checksum)
    if (!repair) {
      throw new FatalError(
        'MIGRATION_FAILED',
        `schema migration ${row.number} (${row.name}) was applied with other content than this version has`,
      )
    }
    repairs.push(repair)
  }
  return repairs
}

/** Longest that a migration waits for a lock: whoever asks for the same table afterwards waits behind it, ms. */
const LOCK_TIMEOUT_MS = 500
/** Pause before it tries again, and how often. */
const LOCK_PAUSE_MS = 500
const LOCK_ATTEMPTS = 60
const LOCK_NOT_AVAILABLE = '55P03'

/** Applies files in one transaction, and again from the first when a reader of the database held a lock for too long. */
async function applyPatiently(
  client: pg.ClientBase,
  repairs: readonly Repair[],
  pending: readonly Migration[],
): Promise<void> {
  for (let attempt = 1; repairs.length + pending.length > 0; attempt++) {
    try {
      await applyAll(client, repairs, pending)
      return
    } catch (error) {
      if (!isLockTimeout(error) || attempt === LOCK_ATTEMPTS) throw error
    }
    await sleep(LOCK_PAUSE_MS)
  }
}

async function applyAll(
  client: pg.ClientBase,
  repairs: readonly Repair[],
  pending: readonly Migration[],
): Promise<void> {
  let current: Migration | undefined
  await client.query('BEGIN')
  try {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
    for (const { migration, sql } of repairs) {
      current = migration
      await client.query(sql)
      await client.query('UPDATE public.pronghorn_migrations SET checksum = $2 WHERE number = $1', [
        migration.number,
        migration.checksum,
      ])
    }
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
