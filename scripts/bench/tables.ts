/** Reads the sizes of the tables in a benchmark's database. */
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

const LIST = `
  SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'assets' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'log_actions' ORDER BY 1`

/** SQL that selects a table and all its partitions. */
const PARTS = '(SELECT $1::regclass AS relid UNION SELECT relid FROM pg_partition_tree($1::regclass))'

const SIZES = `
  SELECT sum(pg_relation_size(relid))::bigint AS heap, sum(pg_indexes_size(relid))::bigint AS indexes,
    sum(pg_total_relation_size(relid) - pg_relation_size(relid) - pg_indexes_size(relid))::bigint AS rest FROM ${PARTS} parts`

/** Rows and bytes of each table as text: heap, indexes, and TOAST with free space maps. */
export async function describeSizes(address: DatabaseAddress): Promise<string> {
  const client = await connectDatabase(address, { applicationName: 'bench' })
  const tables = (await client.query<{ name: string }>(LIST)).rows
  const lines: string[] = []
  let total = 0
  for (const { name } of tables) {
    const { rows } = await client.query<{ heap: bigint; indexes: bigint; rest: bigint }>(SIZES, [name])
    const { rows: counted } = await client.query<{ rows: bigint }>(`SELECT count(*) AS rows FROM ${name}`)
    const count = Number(counted[0]!.rows)
    const [heap, indexes, rest] = [rows[0]!.heap, rows[0]!.indexes, rows[0]!.rest].map(Number)
    const bytes = heap! + indexes! + rest!
    total += bytes
    if (count > 100)
      lines.push(
        `  ${name.padEnd(28)} ${String(count).padStart(8)} rows, MB: heap ${megabytes(heap!)} indexes ${megabytes(indexes!)} ` +
          `toast ${megabytes(rest!)}; ${Math.round(bytes / count)} B a row`,
      )
  }
  await client.end()
  return [...lines, `  all tables of assets: ${(total / 1e6).toFixed(1)} MB`].join('\n')
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1).padStart(6)
}
