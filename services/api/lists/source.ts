import type { Sql } from '../database/index.ts'
import type { EqualValues } from './filter.ts'

/** An index that lists are read by. */
export interface Index {
  readonly name: string
  /** Key columns in their order. */
  readonly columns: readonly string[]
  /** Further columns in the index. */
  readonly includes?: readonly string[]
}

/** The table that a list reads. */
export interface Source {
  /** FROM item, for example `assets.assets a`. */
  readonly from: Sql
  /** Alias of the table in `from`. */
  readonly alias: string
  /** Key column, without alias. */
  readonly key: string
  readonly indexes: readonly Index[]
  /** Columns with few values that lead indexes: without a filter on one, its ranges can all be merged. */
  readonly ranges?: Readonly<Record<string, EqualValues>>
}

/** The order of one column, or of several that each stand for a part of the rows. */
export interface Order {
  readonly direction: 'ASC' | 'DESC'
  readonly branches: readonly Branch[]
}

/**
 * A part of the rows with an order of its own. The branches of an order are disjoint and have all rows; rows are merged by
 * rank, then by value, then by key. Ties of the value are in ascending order of the key, whatever the direction.
 */
export interface Branch {
  /** Lower ranks come first, whatever the direction. */
  readonly rank: number
  /** Column, without alias, that walks read in order; the key column where the order is that of the keys alone. */
  readonly column: string
  /** Rows that have this order by themselves, whatever the indexes: other rows drive them. */
  readonly driven?: Driven
  /** What rows are compared by across branches; grows with the column. Default: the column. */
  readonly value?: Sql
  /** What makes the rows of this branch, for example `a.template_mint IS NOT NULL`. */
  readonly conditions?: readonly Sql[]
  /** Rows of the table that are in this branch, about; default all. */
  readonly share?: number
}

/** Rows that are read through those of another table, which has the order. */
export interface Driven {
  /** FROM item that has the list's table under its alias. */
  readonly from: Sql
  /** Expression that is read in order. */
  readonly by: Sql
  /** Names of filters that `from` has applied. */
  readonly applied: ReadonlySet<string>
  /** Rows that `from` has, estimated. */
  readonly rows: number
}

/** Rows to skip and to take. */
export interface PageWindow {
  readonly offset: number
  readonly limit: number
}
