import type pg from 'pg'
import { FatalError } from '../errors/index.ts'
import { modelTables } from '../model/tables/index.ts'
import { readMigrations } from './migrate.ts'

/** Names of all tables that the migrations create, as `schema.name`. The tables of the undo journal are included. */
export async function listCreatedTables(): Promise<string[]> {
  return (await readMigrations()).flatMap(({ sql }) => {
    const created = [...sql.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+\.\w+)/gm)].map(([, name]) => name!)
    const journaled = [...sql.matchAll(/create_undo_twin\(t::regclass\) FROM unnest\(ARRAY\[([^\]]+)\]/g)]
    const twins = journaled.flatMap(([, names]) =>
      [...names!.matchAll(/(\w+)\.(\w+)/g)].map(([, schema, name]) => `undo.${schema!}_${name!}`),
    )
    return [...created, ...twins]
  })
}

/**
 * Refuses a database in which a table of the migrations is missing, because an operator dropped the table. Reads
 * `pg_class`, because `to_regclass` would need a privilege on the schema.
 * @throws FatalError `DATABASE_TABLE_MISSING` with the names.
 */
export async function refuseMissingTables(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) name WHERE NOT EXISTS (
       SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind IN ('r', 'p') AND n.nspname = split_part(name, '.', 1) AND c.relname = split_part(name, '.', 2))
     ORDER BY name`,
    [await listCreatedTables()],
  )
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name).join(', ')
  throw new FatalError(
    'DATABASE_TABLE_MISSING',
    `the database lacks ${names}, which its migrations created: ${rows.length === 1 ? 'the table was' : 'the tables were'} dropped`,
  )
}

/**
 * Refuses a database in which a column of the model is missing, because an operator dropped or renamed the column.
 * @throws FatalError `DATABASE_COLUMN_MISSING` with the names.
 */
export async function refuseMissingColumns(client: pg.ClientBase): Promise<void> {
  const columns = modelTables.flatMap(({ name, columns }) =>
    Object.keys(columns).map((column) => `${name}.${column}`),
  )
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) name WHERE NOT EXISTS (
       SELECT FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = split_part(name, '.', 1) AND c.relname = split_part(name, '.', 2)
         AND a.attname = split_part(name, '.', 3) AND a.attnum > 0 AND NOT a.attisdropped)
     ORDER BY name`,
    [columns],
  )
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name).join(', ')
  throw new FatalError(
    'DATABASE_COLUMN_MISSING',
    `the database lacks ${names}, which its migrations created: ${rows.length === 1 ? 'the column was' : 'the columns were'} dropped or renamed`,
  )
}
