/**
 * Cost of a row that is read from the table: the unit of the other costs is a quarter of it. Most such rows lie on a
 * page of their own.
 */
export const HEAP_COST = 4
/**
 * Cost of a row of an index-only scan. Measured 2026-11-28 on 100,000 generated assets in memory, `EXPLAIN (ANALYZE,
 * TIMING OFF)` of 50,000 rows, best of 25: 0.084 us by the index alone, 1.50 us with the rows in the order of
 * `updated_at_time`, which is 18 times as much. 1 reads 1.4 % more pages, measured as described in `choose.ts`.
 */
export const INDEX_COST = 0.22
/**
 * Cost of a row that is read from the table in the order of the key, in which neighbours share pages. The measurement of
 * INDEX_COST: 0.356 us with the rows in the order of the key, a quarter of 1.50 us.
 */
export const NEIGHBOUR_COST = 1
/**
 * Cost of an index entry in a bitmap scan, in the unit of HEAP_COST. A higher cost checks rows of the most selective
 * index instead of combining two indexes: 0.6 reads 6.1 % more pages. A lower cost reads long indexes for few rows: 0.04
 * reads 3.4 % fewer pages and 10 % more rows. Measured as described in `choose.ts`.
 */
export const BITMAP_COST = 0.15
