import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectDatabase, isMigrated, migrate } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

/** Migrations of the last version before 1.0.0. */
const earlier = join(packageRoot, 'tests/fixtures/earlier-migrations')
/** Number of the last of them. */
const LAST = 143

type Client = Awaited<ReturnType<typeof connectDatabase>>

describe('a database of before 1.0.0', () => {
  let database: TestDatabase
  let client: Client
  beforeEach(async () => {
    database = await createTestDatabase('template0')
    client = await connectDatabase(database.address, { applicationName: 'test' })
  })
  afterEach(async () => {
    await client.end()
    await database.drop()
  })

  it('a database from before 1.0.0 has the schema of a new one when it is of the last version', async () => {
    await applyEarlier(client, LAST)
    await client.query("INSERT INTO chain.identity VALUES ('aa')")
    await migrate(client)
    expect(await migrate(client)).toEqual([])
    expect(await isMigrated(client)).toBe(true)
    expect(await describeSchema(client)).toEqual(await describeNewest())
    expect((await client.query('SELECT chain_id FROM chain.identity')).rows).toEqual([{ chain_id: 'aa' }])
  })

  it('a database from before 1.0.0 is refused when it is of an older version and left as it is', async () => {
    await applyEarlier(client, LAST - 1)
    const before = await describeSchema(client)
    await expect(migrate(client)).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: expect.stringContaining(`lacks schema migration ${LAST} `) as string,
    })
    expect(await describeSchema(client)).toEqual(before)
    expect(await isMigrated(client)).toBe(false)
  })

  it('a database from before 1.0.0 whose migrations had other content is refused', async () => {
    await applyEarlier(client, LAST)
    await client.query("UPDATE public.pronghorn_migrations SET checksum = 'x' WHERE number = 75")
    await expect(migrate(client)).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: expect.stringContaining('lacks schema migration 75 ') as string,
    })
  })
})

async function applyEarlier(client: Client, upTo: number): Promise<void> {
  await client.query(`CREATE TABLE public.pronghorn_migrations (
    number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
  const files = (await readdir(earlier)).sort()
  for (const file of files.filter((each) => Number(each.slice(0, 4)) <= upTo)) {
    const sql = await readFile(join(earlier, file), 'utf8')
    await client.query(sql)
    await client.query(
      'INSERT INTO public.pronghorn_migrations (number, name, checksum) VALUES ($1, $2, $3)',
      [Number(file.slice(0, 4)), file.slice(5, -4), createHash('sha256').update(sql).digest('hex')],
    )
  }
}

async function describeNewest(): Promise<string[]> {
  const newest = await createTestDatabase()
  const client = await connectDatabase(newest.address, { applicationName: 'test' })
  try {
    return await describeSchema(client)
  } finally {
    await client.end()
    await newest.drop()
  }
}

/** One line for each column, index, function, constraint, view and comment. */
async function describeSchema(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(`
    WITH own AS (SELECT oid, nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$')
    SELECT format('column %s.%s.%s %s %s %s %s', nspname, relname, attname, format_type(atttypid, atttypmod), attnotnull,
      attcollation::regcollation, pg_get_expr(adbin, adrelid)) AS line
    FROM own JOIN pg_class c ON relnamespace = own.oid JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
      LEFT JOIN pg_attrdef ON adrelid = c.oid AND adnum = attnum
    UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN own ON relnamespace = own.oid
    UNION ALL SELECT pg_get_functiondef(p.oid) FROM pg_proc p JOIN own ON pronamespace = own.oid
      WHERE prokind = 'f' AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')
    UNION ALL SELECT format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(k.oid)) FROM pg_constraint k JOIN own ON connamespace = own.oid
    UNION ALL SELECT format('view %s %s', c.oid::regclass, pg_get_viewdef(c.oid)) FROM pg_class c JOIN own ON relnamespace = own.oid WHERE relkind = 'v'
    UNION ALL SELECT format('comment %s.%s %s %s', nspname, relname,
      (SELECT attname FROM pg_attribute WHERE attrelid = objoid AND attnum = objsubid AND objsubid > 0), description)
      FROM pg_description JOIN pg_class c ON c.oid = objoid AND classoid = 'pg_class'::regclass JOIN own ON relnamespace = own.oid`)
  return rows.map(({ line }) => line.replaceAll(/\\bc?\\d+_not_null\\b/g, '')).sort()
}
