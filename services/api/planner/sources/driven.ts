import { raw, sql, where } from '../../sql/index.ts'
import type { Sql } from '../../sql/index.ts'
import { number } from '../number.ts'

/** So many rows that another table leads to count as one of the budget: those of one of its rows stand together in an index. */
const DRIVEN_ROWS = 2

/** Rows of the other table within a budget: a power of two, so that statements are few. */
function driversWithin(budget: number, rowsOfEach: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, (DRIVEN_ROWS * budget) / Math.max(1, rowsOfEach))))
}

/** What `rowsOfDrivers` reads. */
export interface DrivenRows {
  /** Query of the rows of the other table in the order of the list: `value`, and what `from` and `conditions` read. */
  readonly drivers: Sql
  /** FROM item of the rows that one of them, `t`, leads to, in the order of `key`. */
  readonly from: Sql
  readonly key: Sql
  readonly conditions: readonly Sql[]
  readonly direction: 'ASC' | 'DESC'
  /** Column of `drivers` that an index has in the same order, where values of it may be equal that are not. */
  readonly head?: string
  readonly wanted: number
  /** As of `Driven.query`. */
  readonly budget: number | undefined
  /** As of `Driven`. */
  readonly rowsOfEach: number
}

/** Rows that those of another table lead to, one of these after the other; as `Driven.query`. */
export function rowsOfDrivers(rows: DrivenRows): Sql {
  const { drivers, from, key, conditions, direction, head, wanted, budget } = rows
  const most = budget === undefined ? undefined : driversWithin(budget, rows.rowsOfEach)
  const of = (all: readonly Sql[]): Sql =>
    // Of one value no row of the other table has more rows on the page than the page has.
    sql`SELECT ${key} AS k FROM ${from} ${where(all)} ORDER BY ${key} LIMIT ${number(wanted)}`
  const columns = [...(head === undefined ? [] : [head]), 'value']
  const by = raw(`ORDER BY ${columns.map((column) => `t.${column} ${direction}`).join(', ')}`)
  const numbered =
    most === undefined
      ? drivers
      : sql`SELECT t.*, row_number() OVER (${by}) AS place FROM (${drivers}) t ${by} LIMIT ${number(most + 1)}`
  const each =
    most === undefined
      ? of(conditions)
      : sql`(${of([...conditions, sql`t.place <= ${number(most)}`])}) UNION ALL SELECT NULL WHERE t.place > ${number(most)}`
  return sql`SELECT x.k, t.value AS v FROM (${numbered}) t CROSS JOIN LATERAL (${each}) x
    ${by} FETCH FIRST ${number(wanted)} ROWS WITH TIES`
}
