/** Cost of a row that is read from the table, in units of one row of an index-only scan. */
export const HEAP_COST = 4
/** Cost of an index entry in a bitmap scan, in units of one row of an index-only scan. */
export const BITMAP_COST = 0.15

/** PostgreSQL merges up to this many index ranges as one ordered stream. Above, each range is probed on its own. */
const MERGED_RANGES = 8
/** Above MERGED_RANGES the first probe reads FIRST_ROWS x the rows of a page, over all ranges together. */
const FIRST_ROWS = 2

/**
 * Whether the ranges are read as one merged stream. Otherwise the first rows of each range bound how far all are read.
 */
export function isOneStream(ranges: number): boolean {
  return ranges <= MERGED_RANGES
}

/**
 * Rows of the first probe of each range, above MERGED_RANGES. A page of matches among them bounds the rest of the
 * scan; without the bound each range would have to be read for a whole page.
 */
export function firstOfRange(wanted: number, ranges: number): number {
  return Math.ceil((FIRST_ROWS * wanted) / ranges)
}

/** Rows that a merge of ranges reads if every row belongs to the page. */
export function rowsOfMerge(wanted: number, ranges: number): number {
  return isOneStream(ranges)
    ? wanted + ranges - 1
    : firstOfRange(wanted, ranges) * ranges + FIRST_ROWS * wanted
}
