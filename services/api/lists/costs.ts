/** Cost of a visited row, relative to one of an index-only scan. */
export const HEAP_COST = 4
/** Cost of an index row in a bitmap scan. */
export const BITMAP_COST = 0.15
