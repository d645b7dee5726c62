import type { Sql } from '../../sql/index.ts'
import type { EqualValues } from '../filters/index.ts'

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

/** The order of a list. */
export interface Order {
  readonly direction: 'ASC' | 'DESC'
  /** Direction of the keys of rows with the same value, default ascending. */
  readonly keys?: 'ASC' | 'DESC'
  /** How walks read it: parts of the rows, disjoint, that have all of them. */
  readonly branches: readonly Branch[]
  /** How rows that were gathered are sorted. Default: by the column of the only branch. */
  readonly sorted?: {
    /** FROM item, where the value needs more than the source's. */
    readonly from?: Sql
    readonly value: Sql
    /** Where null values come, default last. */
    readonly nulls?: 'FIRST' | 'LAST'
  }
}

/** A part of the rows with its own order. Branches are merged by rank, then by value, then by key. */
export interface Branch {
  /** Lower ranks come first, whatever the direction. A rank is read only where those before do not fill the page. */
  readonly rank: number
  /** Column of an index, without alias, that walks read in order; the key column where the order is that of the keys alone. */
  readonly column: string
  /** Expression that the index has under the name of `column`; default the column itself. */
  readonly expression?: Sql
  /** What rows are compared by across branches; never falls where the column grows. Default: the column. */
  readonly value?: Sql
  /**
   * Set where several values of the column may have one value. Rows are then read in the order of the column with a row
   * budget, and sorted by the value.
   */
  readonly isCoarse?: boolean
  /** Direction that this branch is read in, where its value is the same for all rows. Default: that of the order. */
  readonly direction?: 'ASC' | 'DESC'
  /** Condition of the rows of this branch, for example `a.template_mint IS NOT NULL`. */
  readonly conditions?: readonly Sql[]
  /** Share of the rows that are in this branch, about; default all. */
  readonly share?: number
  /**
   * Filters, by name, whose rows are not spread over the order but stand together in it, and in how many places: those of a
   * template by their names in one.
   */
  readonly clusters?: ReadonlyMap<string, number>
  /** Set where rows of another table lead to these; taken where no index has the order, or where it costs less. */
  readonly driven?: Driven
}

/** Rows that are read through those of another table, which has the order. */
export interface Driven {
  /**
   * Query of the first rows of the branch in order: `k`, `v`; at least `wanted` of them where there are so many, ties of
   * the last value as far as their keys come first.
   * @param checks conditions on the rows.
   * @param budget rows that are read, about; a row whose `k` is null stands where there are more.
   */
  query(checks: readonly Sql[], wanted: number, budget: number | undefined): Sql
  /** Names of filters that the query applies itself. */
  readonly applied: ReadonlySet<string>
  /** Rows that the other table leads to, estimated. */
  readonly rows: number
  /** Rows of the other table that are put in order first, estimated. */
  readonly drivers: number
  /** Rows that each row of the other table leads to, estimated. */
  readonly rowsOfEach: number
  /** Whether the other table has not the order: all rows are read and sorted. */
  readonly isSorted?: boolean
  /** Whether the other table only limits what is read: its estimate of the rows within the limit may be too high. */
  readonly isBounded?: boolean
  /** Rows that are read at least, estimated. */
  readonly least?: number
}

/** Rows to skip and to take. */
export interface PageWindow {
  readonly offset: number
  readonly limit: number
}
