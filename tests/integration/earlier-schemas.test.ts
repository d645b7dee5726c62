import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { createTestDatabase } from '../setup/database.ts'

const present = join(packageRoot, 'services/core/database/migrations')
const earlier = join(packageRoot, 'tests/fixtures/earlier-migrations')

type Client = Awaited<ReturnType<typeof connectDatabase>>

/** Schemas that installations before the first release have: up to which number, and which files had other content. */
const schemas: readonly { name: string; upTo: number; other: Readonly<Record<string, string>> }[] = [
  { name: 'assets alone', upTo: 2, other: {} },
  { name: 'the first market', upTo: 11, other: { '0010': '0010_oracle.sql', '0011': '0011_market.sql' } },
  { name: 'lists in the collation of the database', upTo: 30, other: { '0003': '0003_lists.sql' } },
  { name: 'live data', upTo: 40, other: {} },
  { name: 'traits by hash function', upTo: 75, other: { '0075': '0075_market_traits.first.sql' } },
  { name: 'traits in one function', upTo: 75, other: { '0075': '0075_market_traits.second.sql' } },
  { name: 'indexes that hold more', upTo: 87, other: {} },
]

describe('databases of earlier versions', () => {
  it.each(schemas)('are brought to the newest schema: $name', async ({ upTo, other }) => {
    const database = await createTestDatabase('template0')
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    try {
      await applyEarlier(client, upTo, other)
      await migrate(client)
      expect(await migrate(client)).toEqual([])
      expect(await describeSchema(client)).toEqual(await describeNewest())
    } finally {
      await client.end()
      await database.drop()
    }
  })

  it('are left as they are when a migration fails', async () => {
    const database = await createTestDatabase('template0')
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    try {
      await applyEarlier(client, 75, { '0075': '0075_market_traits.second.sql' })
      // A table that a later migration creates is in its way.
      await client.query('CREATE TABLE chain.imports (id integer)')
      const before = await describeSchema(client)
      await expect(migrate(client)).rejects.toMatchObject({ code: 'MIGRATION_FAILED' })
      expect(await describeSchema(client)).toEqual(before)
    } finally {
      await client.end()
      await database.drop()
    }
  })
})

async function applyEarlier(
  client: Client,
  upTo: number,
  other: Readonly<Record<string, string>>,
): Promise<void> {
  await client.query(`CREATE TABLE public.pronghorn_migrations (
    number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
  const files = (await readdir(present)).filter((file) => file.endsWith('.sql')).sort()
  for (const file of files.filter((each) => Number(each.slice(0, 4)) <= upTo)) {
    const replaced = other[file.slice(0, 4)]
    const sql = await readFile(replaced === undefined ? join(present, file) : join(earlier, replaced), 'utf8')
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

/** One line for each column, index, function, constraint, comment and applied migration. */
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
    UNION ALL SELECT format('comment %s.%s %s %s', nspname, relname, objsubid, description)
      FROM pg_description JOIN pg_class c ON c.oid = objoid AND classoid = 'pg_class'::regclass JOIN own ON relnamespace = own.oid
    UNION ALL SELECT format('migration %s %s', number, checksum) FROM public.pronghorn_migrations`)
  return rows.map(({ line }) => line.replaceAll(/\\bc?\\d+_not_null\\b/g, '')).sort()
}
