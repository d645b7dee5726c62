import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../tests/setup/database.ts'
import type { TestDatabase } from '../../../tests/setup/database.ts'
import { DEMO_CHAIN_ID } from '../chain-node/index.ts'
import { packageRoot } from '../paths/index.ts'
import { buildQueryIndexes, listIndexFamilies, listMissingIndexes } from './query-indexes.ts'
import { checkDatabaseChain } from './chain-identity.ts'
import { connectDatabase, createPool } from './connection.ts'
import { listCreatedTables } from './created-tables.ts'
import { isMigrated, migrate } from './migrate.ts'

const limits = { applicationName: 'test' }

it('a connection that is cut while it is idle fails its next statement', async () => {
  const database = await createTestDatabase('template0')
  const [cut, cutter] = await Promise.all([
    connectDatabase(database.address, limits),
    connectDatabase(database.address, limits),
  ])
  const { rows } = await cut.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  await cutter.query('SELECT pg_terminate_backend($1, 5000)', [rows[0]!.pid])
  await expect(cut.query('SELECT 1')).rejects.toThrow()
  await Promise.all([cut.end(), cutter.end()])
  await database.drop()
})

it('a pooled connection cut between two statements fails only the next statement', async () => {
  const database = await createTestDatabase('template0')
  const pool = createPool(database.address, { ...limits, max: 2 })
  const [cut, cutter] = await Promise.all([pool.connect(), pool.connect()])
  const { rows } = await cut.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const isCut = new Promise<void>((resolve) => cut.once('end', () => resolve()))
  await cutter.query('SELECT pg_terminate_backend($1, 5000)', [rows[0]!.pid])
  await isCut
  await expect(cut.query('SELECT 1')).rejects.toThrow()
  cut.release(true)
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  cutter.release()
  await pool.end()
  await database.drop()
})

it('a database of another chain is refused, and the error names both chains', async () => {
  const database = await createTestDatabase('template0')
  const client = await connectDatabase(database.address, limits)
  const [demo, own] = [DEMO_CHAIN_ID, 'c2'.repeat(32)]
  try {
    await migrate(client)
    await checkDatabaseChain(client, own)
    await client.query('INSERT INTO chain.identity (chain_id) VALUES ($1)', [demo])
    await checkDatabaseChain(client, demo)
    const refused = expect.objectContaining({
      code: 'CHAIN_MISMATCH',
      message: expect.stringMatching(/^the database belongs to the demo chain, .*c2c2/) as string,
    }) as Error
    await expect(checkDatabaseChain(client, own)).rejects.toEqual(refused)
  } finally {
    await client.end()
    await database.drop()
  }
})

describe('migrations', () => {
  let empty: TestDatabase
  beforeAll(async () => {
    empty = await createTestDatabase('template0')
  })
  afterAll(() => empty.drop())

  it('migrations apply once, also when two processes start at once', async () => {
    const [first, second] = await Promise.all([
      connectDatabase(empty.address, limits),
      connectDatabase(empty.address, limits),
    ])
    expect(await isMigrated(first)).toBe(false)
    const [a, b] = await Promise.all([migrate(first), migrate(second)])
    const files = await readdir(join(packageRoot, 'services/core/database/migrations'))
    const migrations = files.filter((file) => file.endsWith('.sql'))
    const numbers = migrations.map((file) => Number.parseInt(file, 10)).sort((x, y) => x - y)
    expect([...a, ...b].sort((x, y) => x - y)).toEqual(numbers)
    expect(await migrate(first)).toEqual([])
    expect(await isMigrated(second)).toBe(true)
    await Promise.all([first.end(), second.end()])
  })

  it('migrations refuse a database of a newer version, and one with changed migration files', async () => {
    const client = await connectDatabase(empty.address, limits)
    await client.query(
      "INSERT INTO public.pronghorn_migrations (number, name, checksum) VALUES (9999, 'later', '')",
    )
    await expect(migrate(client)).rejects.toMatchObject({ code: 'DATABASE_TOO_NEW' })
    await client.query(
      "DELETE FROM public.pronghorn_migrations WHERE number = 9999; UPDATE public.pronghorn_migrations SET checksum = 'x' WHERE number = 1000",
    )
    await expect(migrate(client)).rejects.toMatchObject({ code: 'MIGRATION_FAILED' })
    await client.end()
  })
})

describe('the schema of the database', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())

  it('migrations refuse a database of a version before 1.0.0 and leave it unchanged', async () => {
    const earlier = await createTestDatabase('template0')
    const client = await connectDatabase(earlier.address, limits)
    try {
      await client.query(`CREATE TABLE public.pronghorn_migrations (
        number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
      await client.query(
        "INSERT INTO public.pronghorn_migrations (number, name, checksum) VALUES (143, 'last', 'x')",
      )
      await expect(migrate(client)).rejects.toMatchObject({
        code: 'MIGRATION_FAILED',
        message: expect.stringContaining('version before 1.0.0 (schema migration 143)') as string,
      })
      expect((await client.query("SELECT to_regnamespace('chain')::text AS chain")).rows).toEqual([
        { chain: null },
      ])
    } finally {
      await client.end()
      await earlier.drop()
    }
  })

  it('listCreatedTables returns exactly the tables of a migrated database', async () => {
    const client = await connectDatabase(database.address, limits)
    const { rows } = await client.query<{ name: string }>(
      `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname NOT IN ('public', 'information_schema', 'pg_catalog')`,
    )
    await client.end()
    expect((await listCreatedTables()).sort()).toEqual(rows.map(({ name }) => name).sort())
  })

  it('the schema has a comment on every table and column, and collation C on every text column', async () => {
    const client = await connectDatabase(database.address, limits)
    const { rows } = await client.query<{ place: string }>(`
      SELECT n.nspname || '.' || c.relname || coalesce('.' || a.attname, '') AS place
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_collation l ON l.oid = a.attcollation
      WHERE n.nspname IN ('chain', 'assets', 'market', 'oracle') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid) IS NULL
          OR (a.atttypid IN ('text'::regtype, 'text[]'::regtype) AND l.collname <> 'C' AND a.attname <> 'holder'))`)
    expect(rows).toEqual([])
    await client.end()
  })

  it('buildQueryIndexes builds missing indexes, also on partitions, drops replaced indexes, and rebuilds an invalid index', async () => {
    const client = await connectDatabase(database.address, limits)
    await client.query(
      "SELECT chain.ensure_partition('assets.logs', 5), chain.ensure_partition('assets.logs', 8589934592)",
    )
    const before = await listMissingIndexes(client, 'assets')
    expect(before).toContain('logs_subject_idx')
    // The index of an earlier version stays until its replacement is built.
    await client.query('CREATE INDEX assets_data_idx ON assets.assets USING gin (mutable_data)')
    const built: string[] = []
    await buildQueryIndexes(client, 'assets', (name) => built.push(name))
    expect(built).toContain('assets_attributes_idx')
    const { rows } = await client.query("SELECT to_regclass('assets.assets_data_idx') AS replaced")
    expect(rows).toEqual([{ replaced: null }])
    expect(await listMissingIndexes(client, 'assets')).toEqual([])
    await client.query(
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'assets.assets_owned_idx'::regclass",
    )
    expect(await listMissingIndexes(client, 'assets')).toEqual(['assets_owned_idx'])
    const rebuilt: string[] = []
    await buildQueryIndexes(client, 'assets', (name) => rebuilt.push(name))
    expect(rebuilt).toEqual(['assets_owned_idx'])
    for (const family of await listIndexFamilies()) {
      await buildQueryIndexes(client, family)
      expect(await listMissingIndexes(client, family)).toEqual([])
    }
    await client.end()
  })
})
