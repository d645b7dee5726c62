import { raw, sql, where } from '../../sql/index.ts'
import type { Sql } from '../../sql/index.ts'

/**
 * Rows found via one driving row are adjacent in the index, so ADJACENT_ROWS of them count as one budget row. A
 * larger value lets a scan with a wrong estimate read more rows. 1 reads 1.9 % more pages, 4 reads the same number.
 * Measured as described in `choose.ts`.
 */
const ADJACENT_ROWS = 2

/** Rows of the driving table within a row budget, rounded up to a power of two: fewer different statement texts. */
function drivingRowsWithin(budget: number, rowsOfEach: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, (ADJACENT_ROWS * budget) / Math.max(1, rowsOfEach))))
}

/** Input of `rowsByDrivingTable`. */
export interface DrivingRows {
  /** Query of the driving rows in the order of the list: `value`, and the columns that `from` and `conditions` use. */
  readonly drivingRows: Sql
  /** FROM item of the list's rows that belong to one driving row `t`, in the order of `key`. */
  readonly from: Sql
  readonly key: Sql
  readonly conditions: readonly Sql[]
  readonly direction: 'ASC' | 'DESC'
  /**
   * First sort column of `drivingRows`: the start of `value` (100 characters of a name, say), by which an index returns
   * the driving rows in order. Rows with different values may have the same start.
   */
  readonly head?: string
  readonly wanted: number
  /** Row budget, as in `DrivingTable.query`. */
  readonly budget: number | undefined
  /** Estimated list rows per driving row, as in `DrivingTable`. */
  readonly rowsOfEach: number
}

/** Query of the list's rows, driving row by driving row; returns the columns of `DrivingTable.query`. */
export function rowsByDrivingTable(rows: DrivingRows): Sql {
  const { drivingRows, from, key, conditions, direction, head, wanted, budget } = rows
  const most = budget === undefined ? undefined : drivingRowsWithin(budget, rows.rowsOfEach)
  const of = (all: readonly Sql[]): Sql =>
    // No driving row can contribute more rows to the page than the page has.
    sql`SELECT ${key} AS k FROM ${from} ${where(all)} ORDER BY ${key} LIMIT ${raw(wanted)}`
  const columns = [...(head === undefined ? [] : [head]), 'value']
  const by = raw(`ORDER BY ${columns.map((column) => `t.${column} ${direction}`).join(', ')}`)
  const numbered =
    most === undefined
      ? drivingRows
      : sql`SELECT t.*, row_number() OVER (${by}) AS place FROM (${drivingRows}) t ${by} LIMIT ${raw(most + 1)}`
  const each =
    most === undefined
      ? of(conditions)
      : sql`(${of([...conditions, sql`t.place <= ${raw(most)}`])}) UNION ALL SELECT NULL WHERE t.place > ${raw(most)}`
  return sql`SELECT x.k, t.value AS v FROM (${numbered}) t CROSS JOIN LATERAL (${each}) x
    ${by} FETCH FIRST ${raw(wanted)} ROWS WITH TIES`
}
