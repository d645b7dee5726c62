import type pg from 'pg'
import { FatalError } from '../../core/errors/index.ts'
import type { ColumnValue, Table } from '../../core/model/index.ts'
import { identityOf } from '../../core/model/index.ts'

/** Name and type of a column, read from the database. */
export interface Column {
  readonly name: string
  /** PostgreSQL type, e.g. `bigint` or `text[]`. */
  readonly type: string
}

/** Columns of a table, read from the database, with the names that statements need. */
export interface TableLayout {
  readonly table: Table
  readonly columns: readonly Column[]
  /** Undo journal table; null if the table is rolled back without a journal. */
  readonly undoTable: string | null
  /** Temporary staging table for rows to merge into the table. */
  readonly stage: string
  /** Columns that identify a row, or a group of rows, in the undo journal. */
  readonly identity: readonly string[]
  /** Layout of the history table; null for a table without history. */
  readonly past: PastLayout | null
}

/** Layout of the history table that belongs to a table with history. */
export interface PastLayout {
  readonly name: string
  readonly columns: readonly Column[]
}

/**
 * Reads the tables' columns from the database: the migrations are the single source. Generated columns are left out.
 *
 * @throws FatalError `DATABASE_ERROR` if a table or key column is missing.
 */
export async function readLayouts(
  client: pg.ClientBase,
  tables: readonly Table[],
): Promise<Map<Table, TableLayout>> {
  const { rows } = await client.query<{ table: string; column: string; type: string }>(
    `SELECT n.nspname || '.' || c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname || '.' || c.relname = ANY($1) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     ORDER BY a.attnum`,
    [tables.flatMap((table) => (table.kind === 'history' ? [table.name, table.past] : [table.name]))],
  )
  const columnsOf = (name: string): Column[] =>
    rows.filter((row) => row.table === name).map((row) => ({ name: row.column, type: row.type }))
  return new Map(
    tables.map((table) => {
      const columns = columnsOf(table.name)
      const missing = table.key.filter((key) => !columns.some((column) => column.name === key))
      if (columns.length === 0 || missing.length > 0) {
        throw new FatalError(
          'DATABASE_ERROR',
          `the database lacks table ${table.name} or its key ${missing.join(', ')}`,
        )
      }
      const flat = table.name.replace('.', '_')
      const journaled = table.kind === 'keyed' || table.kind === 'grouped' || table.kind === 'counter'
      const layout = {
        table,
        columns,
        undoTable: journaled ? `undo.${flat}` : null,
        stage: `stage_${flat}`,
        identity: identityOf(table),
        past: table.kind === 'history' ? { name: table.past, columns: columnsOf(table.past) } : null,
      }
      return [table, layout] as const
    }),
  )
}

/**
 * Formats a value as PostgreSQL text, or null. U+0000, which PostgreSQL text cannot store, becomes a space: the only
 * change to chain text (see docs/decisions.md).
 */
export function toDatabaseText(value: ColumnValue | undefined): string | null {
  if (value === null || value === undefined) return null
  switch (typeof value) {
    case 'string':
      return value.includes('\0') ? value.replaceAll('\0', ' ') : value
    case 'bigint':
    case 'number':
      return value.toString()
    case 'boolean':
      return value ? 't' : 'f'
    default:
      return value instanceof Uint8Array
        ? `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
        : toArrayText(value)
  }
}

function toArrayText(values: readonly string[] | readonly bigint[]): string {
  let text = '{'
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (i > 0) text += ','
    text +=
      typeof value === 'bigint'
        ? value.toString()
        : `"${value.replaceAll('\0', ' ').replace(/["\\]/g, '\\$&')}"`
  }
  return `${text}}`
}
