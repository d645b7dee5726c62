import type { EqualValues, Filter } from './filters/index.ts'
import type { DrivingTable, Order, PageWindow, Segment, Source } from './sources/index.ts'

/** Input of the planner: the list to read, the page, and the size of the table. */
export interface ListRequest {
  readonly source: Pick<Source, 'alias' | 'key' | 'indexes' | 'ranges'>
  /** Estimated rows of the whole table. */
  readonly rows: number
  readonly filters: readonly Filter[]
  readonly order: Order
  readonly window: PageWindow
  /**
   * Result of an earlier index scan whose row budget ran out; replaces the row estimate. The scan could read at
   * most `most` rows. The scan read about `read` rows, of which `hits` matched.
   */
  readonly seen?: { readonly most: number; readonly read: number; readonly hits: number }
}

/** How one segment of the order is read: an index scan in the wanted order. */
export interface SegmentScan {
  readonly segment: Segment
  /**
   * Equality filters on the index columns before the sort column. Each combination of their values is one index range.
   */
  readonly prefix: readonly EqualValues[]
  /** Filters that bound the sort column: they limit the index ranges. */
  readonly bounds: readonly Filter[]
  /** Filters that the index does not serve: each row that the scan reads is checked against them. */
  readonly checks: readonly Filter[]
  /** Number of index ranges: the product of the numbers of values in `prefix`. */
  readonly ranges: number
  /** Rows that are read first from each range, if there are too many ranges to merge as one stream. */
  readonly first: number
  /** Set if the scan iterates another table (templates by name, say) and looks up this table's rows from it. */
  readonly driving?: DrivingTable
}

/** Access path: scans indexes in the wanted order until the page is full. Several ranges or segments are merged. */
export interface ScanPath {
  readonly kind: 'scan' | 'merge'
  readonly scans: readonly SegmentScan[]
  /** Row budget of each range, or of the merged stream; undefined means unlimited. */
  readonly budget: number | undefined
  /** Estimated rows that the scan reads. */
  readonly expected: number
  /** Estimated rows that the scan reads if the page never fills. */
  readonly most: number
  readonly reason: string
}

/** Access path: collects all matching rows through the most selective filters, and sorts them (top-N sort). */
export interface CollectPath {
  readonly kind: 'collect'
  /** Set if another table finds the rows: the filter with this table (`Filter.through`). */
  readonly through?: Filter
  /**
   * Set for an index-only scan: the filters on the first columns of the index. The index has all columns that the query
   * reads, so PostgreSQL visits no row of the table.
   */
  readonly scanned?: readonly Filter[]
  readonly expected: number
  readonly reason: string
}

/** The access path of a list: an ordered index scan, or collect and sort. */
export type AccessPath = ScanPath | CollectPath
