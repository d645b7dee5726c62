/** How large the tables of a measurement are. */
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

const LIST = `
  SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'assets' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'log_actions' ORDER BY 1`

/** Rows, bytes and bytes per row of each table with its indexes, as text. */
export async function describeSizes(address: DatabaseAddress): Promise<string> {
  const client = await connectDatabase(address, { applicationName: 'bench' })
  const tables = (await client.query<{ name: string }>(LIST)).rows
  const lines: string[] = []
  let total = 0
  for (const { name } of tables) {
    const { rows } = await client.query<{ rows: bigint; bytes: bigint }>(
      `SELECT (SELECT count(*) FROM ${name}) AS rows,
        pg_total_relation_size('${name}') + (SELECT coalesce(sum(pg_total_relation_size(relid)), 0)::bigint FROM pg_partition_tree('${name}')) AS bytes`,
    )
    const count = Number(rows[0]!.rows)
    const bytes = Number(rows[0]!.bytes)
    total += bytes
    if (count > 100)
      lines.push(
        `  ${name.padEnd(28)} ${String(count).padStart(8)} rows ${(bytes / 1e6).toFixed(1).padStart(7)} MB ${Math.round(bytes / count)} B a row`,
      )
  }
  await client.end()
  return [...lines, `  all tables of assets: ${(total / 1e6).toFixed(1)} MB`].join('\n')
}
