import type pg from 'pg'
import { listIndexStatements } from '../../core/database/restoring/index.ts'

/** Stages of index builds. Statements of one stage run concurrently, after all of the previous stage. */
const INDEX_STAGE = 1
const CONSTRAINT_STAGE = 2
const REFERENCE_STAGE = 3
/** Runs after the migrations that the dump lacks, because these migrations may add columns that query indexes need. */
export const QUERY_STAGE = 4
const ANALYZE_STAGE = 5

interface FoundIndex {
  readonly table_name: string
  readonly name: string
  readonly definition: string
  readonly constraint_name: string | null
  readonly constraint_definition: string | null
  readonly is_partitioned: boolean
  readonly is_primary: boolean
}

interface Definition {
  readonly stage: number
  readonly table: string
  readonly statement: string
}

/**
 * Drops the indexes and constraints of the empty tables. Stores SQL statements in `restore.definitions`: they rebuild
 * the dropped indexes and constraints, build the query indexes (indexes of lists), and run ANALYZE.
 *
 * @param isNewest whether no migration is missing: then all indexes are built in one stage.
 */
export async function storeDefinitions(
  client: pg.ClientBase,
  tables: readonly string[],
  isNewest: boolean,
): Promise<void> {
  await client.query(`CREATE TABLE restore.definitions (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, stage integer NOT NULL, table_name text NOT NULL, statement text NOT NULL)`)
  const references = await findReferences(client, tables)
  const indexes = await findIndexes(client, tables)
  const names = new Set(indexes.map(({ name }) => name))
  const queryIndexes = (await listIndexStatements()).flatMap((statement): Definition[] => {
    const [, name, table] = /^CREATE INDEX IF NOT EXISTS (\w+) ON ([\w.]+)/.exec(statement)!
    return names.has(name!) ? [] : [{ stage: isNewest ? INDEX_STAGE : QUERY_STAGE, table: table!, statement }]
  })
  const definitions: Definition[] = [
    ...indexes.flatMap(definitionsOf),
    ...references.map(({ table, add }) => ({ stage: REFERENCE_STAGE, table, statement: add })),
    ...queryIndexes,
    ...tables.map((table) => ({ stage: ANALYZE_STAGE, table, statement: `ANALYZE ${table}` })),
  ]
  await client.query(
    `INSERT INTO restore.definitions (stage, table_name, statement)
     SELECT * FROM unnest($1::integer[], $2::text[], $3::text[])`,
    [
      definitions.map(({ stage }) => stage),
      definitions.map(({ table }) => table),
      definitions.map(({ statement }) => statement),
    ],
  )
  for (const { drop } of references) await client.query(drop)
  for (const { table_name: table, name, constraint_name: constraint } of indexes)
    await client.query(
      constraint === null
        ? `DROP INDEX ${table.split('.')[0]!}.${name}`
        : `ALTER TABLE ${table} DROP CONSTRAINT ${constraint}`,
    )
}

async function findIndexes(client: pg.ClientBase, tables: readonly string[]): Promise<FoundIndex[]> {
  const { rows } = await client.query<FoundIndex>(
    `SELECT t.table_name, quote_ident(c.relname) AS name, pg_get_indexdef(i.indexrelid) AS definition,
       quote_ident(k.conname) AS constraint_name, pg_get_constraintdef(k.oid) AS constraint_definition,
       c.relkind = 'I' AS is_partitioned, i.indisprimary AS is_primary
     FROM unnest($1::text[]) t(table_name) JOIN pg_index i ON i.indrelid = t.table_name::regclass
     JOIN pg_class c ON c.oid = i.indexrelid
     LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x')
     ORDER BY 1, 2`,
    [tables],
  )
  return rows
}

async function findReferences(
  client: pg.ClientBase,
  tables: readonly string[],
): Promise<{ table: string; add: string; drop: string }[]> {
  const { rows } = await client.query<{ table: string; add: string; drop: string }>(
    `SELECT t.name AS table, format('ALTER TABLE %s ADD CONSTRAINT %I %s', t.name, k.conname, pg_get_constraintdef(k.oid)) AS add,
       format('ALTER TABLE %s DROP CONSTRAINT %I', t.name, k.conname) AS drop
     FROM unnest($1::text[]) t(name) JOIN pg_constraint k ON k.conrelid = t.name::regclass AND k.contype = 'f' ORDER BY 1, 2`,
    [tables],
  )
  return rows
}

/**
 * Statements of an index. The index of a constraint is built before the constraint, and concurrently with other indexes
 * of the table: ADD CONSTRAINT would build it under a lock of the table. For a partitioned table PostgreSQL supports
 * only ADD CONSTRAINT, so its index is not built before.
 */
function definitionsOf(index: FoundIndex): Definition[] {
  const { table_name: table, name, constraint_name: constraint, constraint_definition: added } = index
  // pg_get_indexdef prints indexes of partitioned tables with ONLY, which would leave out the partitions.
  const create = index.definition.replace(' ON ONLY ', ' ON ')
  if (constraint === null) return [{ stage: INDEX_STAGE, table, statement: create }]
  if (index.is_partitioned)
    return [
      { stage: INDEX_STAGE, table, statement: `ALTER TABLE ${table} ADD CONSTRAINT ${constraint} ${added!}` },
    ]
  const kind = index.is_primary ? 'PRIMARY KEY' : 'UNIQUE'
  return [
    { stage: INDEX_STAGE, table, statement: create },
    {
      stage: CONSTRAINT_STAGE,
      table,
      statement: `ALTER TABLE ${table} ADD CONSTRAINT ${constraint} ${kind} USING INDEX ${name}`,
    },
  ]
}
