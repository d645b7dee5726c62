/**
 * Measures the bytes per row of each table, including indexes, on a generated database; docs/sizing.md is computed
 * from them.
 * Usage: node dist/scripts/bench/sizes.js [--factor NUMBER] [--seed TEXT] [--data FOLDER] [--server JSON] [--write]
 * `--write` stores the figures in scripts/docs/sizing/bytes.json.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connectDatabase } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { generatedArguments, openGeneratedServer } from './generated-server.ts'

const { values } = parseArgs({
  options: {
    ...generatedArguments,
    write: { type: 'boolean', default: false },
  },
})

/** Tables with fewer rows are skipped: their bytes per row mean nothing. */
const LEAST_ROWS = 1_000

const TABLES = `
  SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('assets', 'market', 'tools', 'oracle', 'chain')
    AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`

const server = await openGeneratedServer(values)
const client = await connectDatabase(server.address, { applicationName: 'bench' })
const tables: Record<string, { rows: number; table: number; indexes: number }> = {}
for (const { name } of (await client.query<{ name: string }>(TABLES)).rows) {
  const { rows } = await client.query<{ rows: bigint; table: bigint; indexes: bigint }>(
    `SELECT (SELECT count(*) FROM ${name}) AS rows, sum(pg_table_size(relid))::bigint AS table,
       sum(pg_indexes_size(relid))::bigint AS indexes
     FROM (SELECT relid FROM pg_partition_tree('${name}') UNION SELECT '${name}'::regclass) parts`,
  )
  const [{ rows: count, table, indexes }] = rows as [{ rows: bigint; table: bigint; indexes: bigint }]
  if (count < LEAST_ROWS) continue
  const perRow = (bytes: bigint): number => Math.round((Number(bytes) / Number(count)) * 10) / 10
  tables[name] = { rows: Number(count), table: perRow(table), indexes: perRow(indexes) }
}
await client.end()
await server.stop()
const measured = { command: `node dist/scripts/bench/sizes.js --factor ${values.factor}`, tables }
const text = `${JSON.stringify(measured, null, 2)}\n`
console.log(text)
if (values.write) writeFileSync(join(packageRoot, 'scripts/docs/sizing/bytes.json'), text)
