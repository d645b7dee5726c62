/** Row versions and index entries that the filler writes per event, block by block as at the head. */
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

/** Row versions and index entries that PostgreSQL has written to a table so far. */
interface TableWrites {
  readonly table: string
  /** Inserted rows and new versions of updated rows. */
  readonly versions: number
  /** Updates that touched no index (HOT updates); included in `versions`. */
  readonly hot: number
  readonly indexes: number
  /** Average number of index entries per row: a partial index counts with its share of the rows. */
  readonly indexesOfRow: number
}

/** Row versions and index entries that PostgreSQL has written so far, by table; partitions are summed. */
export type Writes = ReadonlyMap<string, TableWrites>

const TABLES = `
  SELECT s.relid::regclass::text AS relation, coalesce(i.inhparent, s.relid)::regclass::text AS table,
    s.n_tup_ins + s.n_tup_upd AS versions, s.n_tup_hot_upd AS hot,
    ARRAY(SELECT coalesce(pg_get_expr(x.indpred, x.indrelid), 'true') FROM pg_index x WHERE x.indrelid = s.relid) AS predicates
  FROM pg_stat_user_tables s LEFT JOIN pg_inherits i ON i.inhrelid = s.relid
  WHERE s.schemaname NOT IN ('pg_temp', 'pg_toast') AND s.n_tup_ins + s.n_tup_upd > 0 ORDER BY 2`

/** Reads the server's statistics. A session's statistics are complete one second after its end. */
export async function readWrites(address: DatabaseAddress): Promise<Writes> {
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const client = await connectDatabase(address, { applicationName: 'bench' })
  const { rows } = await client.query<{
    relation: string
    table: string
    versions: bigint
    hot: bigint
    predicates: string[]
  }>(TABLES)
  const writes = new Map<string, TableWrites>()
  for (const { relation, table, versions, hot, predicates } of rows) {
    const shares = predicates.map((predicate) => `coalesce(avg((${predicate})::integer), 1)`)
    const { rows: found } = await client.query<{ sum: number }>(
      `SELECT (${shares.join(' + ') || '0'})::float8 AS sum FROM ${relation}`,
    )
    const known = writes.get(table)
    writes.set(table, {
      table,
      versions: Number(versions) + (known?.versions ?? 0),
      hot: Number(hot) + (known?.hot ?? 0),
      indexes: predicates.length,
      indexesOfRow: found[0]!.sum,
    })
  }
  await client.end()
  return writes
}

/** Describes the row versions and index entries written per event between two readings of the statistics. */
export function describeWrites(before: Writes, after: Writes, events: number): string {
  const lines: string[] = []
  let versions = 0
  let entries = 0
  for (const { table, versions: total, hot: allHot, indexes, indexesOfRow } of after.values()) {
    const written = total - (before.get(table)?.versions ?? 0)
    const hot = allHot - (before.get(table)?.hot ?? 0)
    if (written === 0) continue
    const added = (written - hot) * indexesOfRow
    versions += written
    entries += added
    lines.push(
      `    ${table.padEnd(30)} ${(written / events).toFixed(2).padStart(6)} row versions, ${(hot / events).toFixed(2)} of them without index entries (HOT updates); ` +
        `${(added / events).toFixed(1)} index entries in ${indexes} indexes`,
    )
  }
  return [
    `${(versions / events).toFixed(1)} row versions and ${(entries / events).toFixed(1)} index entries are written`,
    ...lines,
  ].join('\n')
}
