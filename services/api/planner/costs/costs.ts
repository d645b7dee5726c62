/**
 * Cost of reading a row of the table, mostly from a page of its own. The other costs are relative to this number.
 */
export const HEAP_COST = 4
/**
 * Cost of a row of an index-only scan. Measured 2026-11-28 on 100,000 generated assets in memory, `EXPLAIN (ANALYZE,
 * TIMING OFF)` of 50,000 rows, best of 25: 0.084 us a row by the index alone, 1.50 us if the table rows are read too,
 * in the order of `updated_at_time` (18 times as much). 1 reads 1.4 % more pages, measured as described in `choose.ts`.
 */
export const INDEX_COST = 0.22
/**
 * Cost of reading a row of the table in the order of the key: neighbouring rows share pages. In the measurement of
 * INDEX_COST: 0.356 us a row, a quarter of the 1.50 us in the order of `updated_at_time`.
 */
export const NEIGHBOUR_COST = 1
/**
 * Cost of an index entry in a bitmap scan. With a higher cost, the rows of the most selective index are checked instead
 * of combining two indexes: 0.6 reads 6.1 % more pages. With a lower cost, long index ranges are read to exclude few
 * rows: 0.04 reads 3.4 % fewer pages and 10 % more rows. Measured as described in `choose.ts`.
 */
export const BITMAP_COST = 0.15
