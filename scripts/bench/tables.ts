/** What the benches ask of tables: load the same rows with COPY, and how large they are. */
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

const LIST = `
  SELECT c.oid::regclass::text AS name, c.relkind::text AS kind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'assets' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'log_actions' ORDER BY 1`

/** Loads all rows of the assets schema into an empty database with bare COPY; reading them is not timed. */
export async function copyTables(
  from: DatabaseAddress,
  to: DatabaseAddress,
): Promise<{ rows: number; seconds: number }> {
  const [source, target] = await Promise.all(
    [from, to].map((address) => connectDatabase(address, { applicationName: 'bench' })),
  )
  const tables = (await source!.query<{ name: string; kind: string }>(LIST)).rows
  let rows = 0
  let seconds = 0
  for (const { name, kind } of tables) {
    const chunks: Buffer[] = []
    // Generated columns are not written.
    const { rows: columns } = await source!.query<{ list: string }>(
      `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS list FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
      [name],
    )
    const list = columns[0]!.list
    const reading = source!.query(copyTo(`COPY (SELECT ${list} FROM ${name}) TO STDOUT`))
    for await (const chunk of reading) chunks.push(chunk as Buffer)
    if (kind === 'p') await target!.query(`SELECT chain.ensure_partition('${name}', 0)`)
    const startedAt = performance.now()
    const writing = target!.query(copyFrom(`COPY ${name} (${list}) FROM STDIN`))
    await pipeline(Readable.from(chunks), writing)
    seconds += (performance.now() - startedAt) / 1_000
    rows += writing.rowCount
  }
  await Promise.all([source!.end(), target!.end()])
  return { rows, seconds }
}

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
