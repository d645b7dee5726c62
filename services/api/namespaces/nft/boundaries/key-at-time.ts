import { bind, raw, Sql, sql } from '../../../sql/index.ts'

/** A table whose key grows with time. */
export interface TimedTable {
  readonly table: string
  readonly key: string
  /** Time column, ms since 1970. */
  readonly time: string
}

/** Largest 64-bit key, above the key of every row. */
const BEYOND_ALL = '9223372036854775807'

/**
 * SQL of the smallest key whose row is at or after a time; the largest 64-bit number if no row is. Bisects over the
 * key in about as many index probes as the key has bits, so the time needs no index.
 * @param timeMs ms since 1970; NULL gives the largest number.
 */
export function keyAtTime({ table, key, time }: TimedTable, timeMs: number | Sql): Sql {
  const [from, k, t] = [raw(table), raw(key), raw(time)]
  const wanted = timeMs instanceof Sql ? timeMs : bind(timeMs, 'bigint')
  return sql`coalesce((WITH RECURSIVE bisection(low, high) AS (
        SELECT min(${k})::bigint, max(${k})::bigint + 1 FROM ${from}
        UNION ALL
        SELECT CASE WHEN probe.at >= ${wanted} THEN low ELSE probe.key + 1 END,
               CASE WHEN probe.at >= ${wanted} THEN middle ELSE high END
        FROM bisection CROSS JOIN LATERAL (SELECT low + (high - low) / 2 AS middle) m CROSS JOIN LATERAL (
          SELECT ${k}::bigint AS key, ${t} AS at FROM ${from} WHERE ${k} >= middle ORDER BY ${k} LIMIT 1) probe
        WHERE low < high)
      SELECT (SELECT min(${k}) FROM ${from} WHERE ${k} >= low) FROM bisection WHERE low >= high), ${raw(BEYOND_ALL)})`
}
