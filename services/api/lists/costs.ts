/** Cost of a visited row, relative to one of an index-only scan. */
export const HEAP_COST = 4
/** Cost of an index row in a bitmap scan. */
export const BITMAP_COST = 0.15

/** Ranges of an index from which on the first rows of each bound what is read of all. */
const BOUNDED_RANGES = 8
/** So many times the rows of a page are read first, over all ranges. */
const FIRST_ROWS = 2

/**
 * Rows of each range of a merge that are read first: as many as the page needs, taken from them, bound the rest, so that
 * not each range is read as if the page were in it alone. Undefined for few ranges.
 */
export function firstOfRange(wanted: number, ranges: number): number | undefined {
  return ranges < BOUNDED_RANGES ? undefined : Math.ceil((FIRST_ROWS * wanted) / ranges)
}

/** Rows that a merge reads where each of them is wanted. */
export function rowsOfMerge(wanted: number, ranges: number): number {
  const first = firstOfRange(wanted, ranges)
  return first === undefined ? wanted * ranges : first * ranges + FIRST_ROWS * wanted
}
