import type { Bindings, Session } from '../../database/index.ts'
import type { Values } from '../../endpoint/index.ts'

/** A table whose key grows with time. */
export interface TimedTable {
  /** FROM item without alias. */
  readonly table: string
  readonly key: string
  /** Time column, ms since 1970. */
  readonly time: string
}

/**
 * The smallest key whose row is at or after a time, as text; undefined when there is none. Found by bisection over
 * the key, in about as many index probes as the key has bits, so that no index on the time column is needed.
 */
export async function keyAtTime(
  session: Session,
  source: TimedTable,
  timeMs: number,
): Promise<string | undefined> {
  const { table, key, time } = source
  const rows = await session.query<[string | null]>({
    name: `key-at-time ${table}`,
    text: `WITH RECURSIVE bisection(low, high) AS (
        SELECT min(${key})::bigint, max(${key})::bigint + 1 FROM ${table}
        UNION ALL
        SELECT CASE WHEN probe.at >= $1::bigint THEN low ELSE probe.key + 1 END,
               CASE WHEN probe.at >= $1::bigint THEN middle ELSE high END
        FROM bisection CROSS JOIN LATERAL (SELECT low + (high - low) / 2 AS middle) m CROSS JOIN LATERAL (
          SELECT ${key}::bigint AS key, ${time} AS at FROM ${table} WHERE ${key} >= middle ORDER BY ${key} LIMIT 1) probe
        WHERE low < high)
      SELECT (SELECT min(${key}) FROM ${table} WHERE ${key} >= low)::text FROM bisection WHERE low >= high`,
    values: [timeMs],
  })
  return rows[0]?.[0] ?? undefined
}

/** Bounds of a key that follow from `before` and `after`. */
export interface KeyBounds {
  /** The key is below this. */
  readonly below?: string
  /** The key is at least this; null when no key is. */
  readonly from?: string | null
}

/** Finds what `before` and `after` mean for a key that grows with time. */
export async function keyBounds(session: Session, values: Values, source: TimedTable): Promise<KeyBounds> {
  const before = values.int('before')
  const after = values.int('after')
  const below = before === undefined ? undefined : await keyAtTime(session, source, before)
  return {
    ...(below === undefined ? {} : { below }),
    ...(after === undefined ? {} : { from: (await keyAtTime(session, source, after + 1)) ?? null }),
  }
}

/** The bounds as conditions. @param column the key, for example `a.asset_id`. */
export function keyBoundConditions({ below, from }: KeyBounds, column: string, bindings: Bindings): string[] {
  const conditions: string[] = []
  if (below !== undefined) conditions.push(`${column} < ${bindings.bind(below, 'bigint')}`)
  if (from === null) conditions.push('FALSE')
  else if (from !== undefined) conditions.push(`${column} >= ${bindings.bind(from, 'bigint')}`)
  return conditions
}
