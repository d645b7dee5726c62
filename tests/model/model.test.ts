import { afterAll, beforeAll, expect, it } from 'vitest'
import type pg from 'pg'
import { connectDatabase } from '../../services/core/database/index.ts'
import { modelTables } from '../../services/core/model/tables/index.ts'
import { readCoverage } from '../../services/verify/checked/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = await connectDatabase(database.address, { applicationName: 'model' })
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Returns the columns of the migrated database by table, without generated columns. */
async function readColumns(names: readonly string[]): Promise<Record<string, string[]>> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `SELECT n.name AS table, array_agg(concat_ws(' ', a.attname, format_type(a.atttypid, NULL), CASE WHEN NOT a.attnotnull THEN 'null' END)
       ORDER BY a.attnum) AS columns
     FROM unnest($1::text[]) n(name) JOIN pg_attribute a ON a.attrelid = n.name::regclass
     WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' GROUP BY 1`,
    [names],
  )
  return Object.fromEntries(rows.map(({ table, columns }) => [table, columns]))
}

const described = ({ columns }: (typeof modelTables)[number]) =>
  Object.entries(columns).map(([name, { type, isNullable }]) => `${name} ${type}${isNullable ? ' null' : ''}`)

const isJournaled = ({ kind, name }: (typeof modelTables)[number]) =>
  ['keyed', 'grouped', 'counter'].includes(kind) && name !== 'chain.identity'

const undoTable = ({ name }: { readonly name: string }) => `undo.${name.replace('.', '_')}`

/** Extracts the column name from the description that `readColumns` returns. */
const nameOf = (column: string) => column.replace(/ .*/, '')

it('the migrated tables have the columns of the model, in the order of the model', async () => {
  const migrated = await readColumns(modelTables.map(({ name }) => name))
  expect(Object.fromEntries(modelTables.map((table) => [table.name, described(table)]))).toEqual(migrated)
})

it('the history tables have the columns of their table, and the block that ended the row version', async () => {
  const histories = modelTables.filter((table) => table.kind === 'history')
  const migrated = await readColumns(histories.map(({ past }) => past))
  for (const table of histories)
    expect(migrated[table.past]!.sort()).toEqual([...described(table), 'until_block integer'].sort())
})

it('an undo table has the columns of the undo journal, then the columns of the table whose rows it restores', async () => {
  const undone = modelTables.filter(isJournaled)
  const migrated = await readColumns(undone.map(undoTable))
  for (const table of undone)
    expect(migrated[undoTable(table)]!.map(nameOf)).toEqual([
      'undo_block',
      'undo_existed',
      ...Object.keys(table.columns),
    ])
})

it("in every table, exactly the column named reader contains the reader's name, so digests can exclude this column", () => {
  const wrong = modelTables.flatMap(({ name, columns }) => {
    if (Object.values(columns).every(({ origin }) => origin === 'reader')) return []
    return Object.entries(columns)
      .filter(([column, { origin }]) => (origin === 'reader') !== (column === 'reader'))
      .map(([column]) => `${name}.${column}`)
  })
  expect(wrong).toEqual([])
})

it('tables whose rows are changed have the primary keys of the model', async () => {
  const keyed = modelTables.filter(({ kind }) => kind !== 'append')
  const { rows } = await client.query<{ table: string; key: string[] }>(
    `SELECT n.name AS table, array_agg(a.attname::text ORDER BY a.attname) AS key
     FROM unnest($1::text[]) n(name) JOIN pg_index i ON i.indrelid = n.name::regclass AND i.indisprimary
     JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY((i.indkey::int2[])[0:i.indnkeyatts - 1]) GROUP BY 1`,
    [keyed.map(({ name }) => name)],
  )
  expect(Object.fromEntries(keyed.map(({ name, key }) => [name, [...key].sort()]))).toEqual(
    Object.fromEntries(rows.map(({ table, key }) => [table, key])),
  )
})

it('the undo journal has a table for each table whose rows are changed one by one', async () => {
  const { rows } = await client.query<{ name: string }>(
    "SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'undo'::regnamespace AND relkind = 'r' ORDER BY 1",
  )
  expect(rows.map(({ name }) => `undo.${name}`)).toEqual(
    modelTables.filter(isJournaled).map(undoTable).sort(),
  )
})

it('digests cover every table except the bookkeeping tables of readers', async () => {
  const { rows } = await client.query<{ name: string }>('SELECT name FROM chain.digest_tables()')
  const digested = modelTables.filter(({ columns }) =>
    Object.values(columns).some(({ origin }) => origin !== 'reader'),
  )
  expect(rows.map(({ name }) => name).sort()).toEqual(digested.map(({ name }) => name).sort())
})

it('every column of the model is compared, recomputed, or listed with the reason why it is not checked', () => {
  const coverage = readCoverage()
  const wrong = modelTables.flatMap(({ name, columns }) =>
    Object.entries(columns).flatMap(([column, { origin }]) => {
      const kind = coverage.get(name)?.get(column)?.kind
      const isRight =
        origin === 'row'
          ? kind === 'compared'
          : origin === 'rule'
            ? kind === 'recomputed'
            : origin === 'reader'
              ? kind === undefined
              : kind === 'recomputed' || kind === 'not checked'
      return isRight ? [] : [`${name}.${column} ${origin}: ${kind ?? 'nothing'}`]
    }),
  )
  expect(wrong).toEqual([])
})

it('every column that verify compares or recomputes is in the model', () => {
  const known = new Set(
    modelTables.flatMap(({ name, columns }) => Object.keys(columns).map((c) => `${name}.${c}`)),
  )
  const places = [...readCoverage()].flatMap(([table, names]) =>
    [...names.keys()].map((c) => `${table}.${c}`),
  )
  expect(places.filter((place) => !known.has(place))).toEqual([])
})
