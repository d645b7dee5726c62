import type { Sql } from '../../sql/index.ts'
import type { EqualValues } from '../filters/index.ts'

/** An index of the list's table. */
export interface Index {
  readonly name: string
  /** Key columns of the index, in the order of the index. */
  readonly columns: readonly string[]
  /** Columns of the INCLUDE clause. */
  readonly includes?: readonly string[]
  /** Set for a partial index, which has only the rows with this value in this column. */
  readonly only?: { readonly column: string; readonly value: number }
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
  /**
   * Leading columns of indexes, if the column has few distinct values: each column with its values. Without a filter on
   * such a column, the planner can merge the index ranges of all its values.
   */
  readonly ranges?: Readonly<Record<string, EqualValues>>
}

/** The order of a list. */
export interface Order {
  readonly direction: 'ASC' | 'DESC'
  /** Direction of the key among rows with the same value. Default ascending. */
  readonly keys?: 'ASC' | 'DESC'
  /** Disjoint parts of the rows, each with its own index order. Together they contain all rows. */
  readonly segments: readonly Segment[]
  /**
   * Sort expression of an access path that collects all rows before the sort. Default, for an order with one segment:
   * the column of the segment.
   */
  readonly sorted?: {
    /** FROM item, if the sort value needs more tables than `Source.from`. */
    readonly from?: Sql
    readonly value: Sql
    /** Position of null values. Default last. */
    readonly nulls?: 'FIRST' | 'LAST'
  }
}

/** A part of the rows with its own order. Segments are merged by rank, then by value, then by key. */
export interface Segment {
  /**
   * Position of the segment in the list, for both directions of the order. Segments with a lower rank come first. A
   * segment is read only if the segments with lower ranks do not fill the page.
   */
  readonly rank: number
  /**
   * Index column, without alias, in whose order the segment is read. The key column if the list is ordered by key
   * alone.
   */
  readonly column: string
  /** Expression that the index stores under the name of `column`. Default: the column itself. */
  readonly expression?: Sql
  /**
   * Expression by which rows of different segments are compared. The value is equal for all rows of the segment, or
   * ascends with `column`. Default: the column.
   */
  readonly value?: Sql
  /**
   * Direction in which this segment is read, if `value` is the same for all its rows. Default: direction of the order.
   */
  readonly direction?: 'ASC' | 'DESC'
  /** Conditions that select the rows of this segment, for example `a.template_mint IS NOT NULL`. */
  readonly conditions?: readonly Sql[]
  /** Estimated share of the table's rows in this segment. Default 1. */
  readonly share?: number
  /**
   * Set if the segment can be read via a driving table. The planner uses the driving table if no index has the order,
   * or if the driving table costs less.
   */
  readonly driving?: DrivingTable
}

/** Reads rows of the list via a driving table, which has the wanted order. */
export interface DrivingTable {
  /**
   * Query of the first rows of the segment in order, with columns `k` (key) and `v` (sort value). Returns at least
   * `wanted` rows if that many exist. Also returns rows with the same sort value as the last row, if their keys can put
   * them on the page.
   * @param checks conditions on the rows.
   * @param budget approximate rows to read. If more rows follow, the result has a marker row, whose `k` is null.
   */
  query(checks: readonly Sql[], wanted: number, budget: number | undefined): Sql
  /** Names of the filters whose conditions are already part of `query`. */
  readonly applied: ReadonlySet<string>
  /** Estimated rows of the list that are found via the driving table. */
  readonly rows: number
  /** Estimated rows of the driving table that are sorted before the first row of the list is read. */
  readonly drivingRows: number
  /** Estimated rows of the list per driving row. */
  readonly rowsOfEach: number
  /**
   * Estimated rows of the list that are read even for a short page: all of them if the driving table does not have the
   * wanted order. Default 0.
   */
  readonly least?: number
}

/** Page of a list: rows to skip (`offset`) and rows to return (`limit`). */
export interface PageWindow {
  readonly offset: number
  readonly limit: number
}
