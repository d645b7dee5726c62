import pg from 'pg'
import { FatalError } from '../../core/errors/index.ts'
import type { ColumnValue, MutableRow, Table } from '../../core/model/index.ts'
import type { TableLayout } from './layout.ts'
import type { PendingTable } from './pending-rows.ts'

/** SQLSTATE classes of refused values: 22 data exception, 23 constraint violation, 54 program limit exceeded. */
const REFUSED_VALUE = /^(?:22|23|54)/
/** SQLSTATE class of values that are too long. */
const TOO_LONG = /^54/

/** Maximum values of the integer column types. */
const greatest: Readonly<Record<string, bigint>> = {
  smallint: 2n ** 15n - 1n,
  integer: 2n ** 31n - 1n,
  bigint: 2n ** 63n - 1n,
}

/**
 * Adds the table name, and the refused row if the search finds the row, to an error that PostgreSQL raised because of a
 * value.
 */
export function namingRow(error: unknown, { table, columns }: TableLayout, pending: PendingTable): unknown {
  if (!isRefusedValue(error)) return error
  const rows = rowsOf(pending)
  const misfit = findMisfit(columns, rows)
  const row = misfit?.row ?? (TOO_LONG.test(error.code ?? '') ? longestOf(rows) : onlyOf(rows))
  const place =
    row === undefined
      ? ''
      : ` with ${keyOf(table)
          .map((key) => `${key} ${textOf(row[key])}`)
          .join(', ')}`
  const value = misfit === undefined ? '' : `: column ${misfit.column} cannot hold ${misfit.value}`
  return namingWork(error, `table ${table.name} refuses a row${place}${value}`)
}

/** Adds the purpose of the statement to an error that PostgreSQL raised because of a value. */
export function namingWork(error: unknown, work: string): unknown {
  return isRefusedValue(error) ? new FatalError('DATABASE_ERROR', work, { cause: error }) : error
}

function isRefusedValue(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && REFUSED_VALUE.test(error.code ?? '')
}

const keyOf = (table: Table): readonly string[] => table.key

function rowsOf({ rows, groups, appended, histories }: PendingTable): MutableRow[] {
  return [
    ...Array.from(rows.values(), ({ row }) => row),
    ...[...groups.values()].flatMap((group) => group.rows),
    ...appended.rows,
    ...[...histories.values()].flatMap(({ versions }) => versions.flatMap(({ row }) => (row ? [row] : []))),
  ]
}

interface Misfit {
  readonly row: MutableRow
  readonly column: string
  readonly value: bigint | number
}

/** Finds the first number that exceeds its column type. */
function findMisfit(columns: TableLayout['columns'], rows: readonly MutableRow[]): Misfit | undefined {
  const limits = columns.flatMap(({ name, type }) => {
    const limit = greatest[type.replace('[]', '')]
    return limit === undefined ? [] : [[name, limit] as const]
  })
  for (const row of rows) {
    for (const [column, limit] of limits) {
      const value = numbersOf(row[column]).find((number) => number > limit || number < -limit - 1n)
      if (value !== undefined) return { row, column, value }
    }
  }
  return undefined
}

function numbersOf(value: ColumnValue | undefined): (bigint | number)[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((each) => typeof each === 'bigint' || typeof each === 'number')
}

function longestOf(rows: readonly MutableRow[]): MutableRow | undefined {
  const lengthOf = (row: MutableRow): number =>
    Math.max(0, ...Object.values(row).map((value) => (typeof value === 'string' ? value.length : 0)))
  return rows.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0]
}

function onlyOf(rows: readonly MutableRow[]): MutableRow | undefined {
  return rows.length === 1 ? rows[0] : undefined
}

/** Maximum length of a text from the chain in an error message. */
const MAX_TEXT = 100

function textOf(value: ColumnValue | undefined): string {
  return String(value).slice(0, MAX_TEXT)
}
