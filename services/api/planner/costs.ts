/** Cost of a visited row, relative to one of an index-only scan. */
export const HEAP_COST = 4
/** Cost of an index row in a bitmap scan. */
export const BITMAP_COST = 0.15

/** Ranges of an index up to which they are merged as they are read. */
const MERGED_RANGES = 8
/** Of more ranges so many times the rows of a page are read first. */
const FIRST_ROWS = 2

/** Whether ranges of an index are one stream in its order; the first rows of each of more bound what is read of all. */
export function isOneStream(ranges: number): boolean {
  return ranges <= MERGED_RANGES
}

/**
 * Rows of each of many ranges that are read first: as many as the page needs, taken from them, bound the rest, so that not
 * each range is read as if the page were in it alone.
 */
export function firstOfRange(wanted: number, ranges: number): number {
  return Math.ceil((FIRST_ROWS * wanted) / ranges)
}

/** Rows that a merge reads where each of them is wanted. */
export function rowsOfMerge(wanted: number, ranges: number): number {
  return isOneStream(ranges)
    ? wanted + ranges - 1
    : firstOfRange(wanted, ranges) * ranges + FIRST_ROWS * wanted
}
