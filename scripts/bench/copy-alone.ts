/** Loads all rows of a database with COPY alone: the reference for the filler and for an import. */
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'

const LIST = `
  SELECT c.oid::regclass::text AS name, c.relkind::text AS kind,
    (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('assets', 'market', 'oracle', 'tools') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname <> 'log_actions' ORDER BY 1`

/** Copies all rows of all families into an empty database, table by table. Only writing is timed, not reading. */
export async function copyAlone(
  from: DatabaseAddress,
  to: DatabaseAddress,
): Promise<{ rows: number; seconds: number; bytes: bigint }> {
  const source = await connectDatabase(from, { applicationName: 'bench' })
  const target = await connectDatabase(to, { applicationName: 'bench' })
  const tables = (await source.query<{ name: string; kind: string; columns: string }>(LIST)).rows
  let rows = 0
  let seconds = 0
  let bytes = 0n
  for (const { name, kind, columns } of tables) {
    const chunks: Buffer[] = []
    for await (const chunk of source.query(copyTo(`COPY (SELECT ${columns} FROM ${name}) TO STDOUT`)))
      chunks.push(chunk as Buffer)
    if (kind === 'p') await target.query(`SELECT chain.ensure_partition('${name}', 0)`)
    const startedAt = performance.now()
    const writing = target.query(copyFrom(`COPY ${name} (${columns}) FROM STDIN`))
    await pipeline(Readable.from(chunks), writing)
    seconds += (performance.now() - startedAt) / 1_000
    rows += writing.rowCount
    const size = await target.query<{ bytes: bigint }>(
      `SELECT pg_total_relation_size('${name}') + (SELECT coalesce(sum(pg_total_relation_size(relid)), 0)::bigint
       FROM pg_partition_tree('${name}') WHERE level > 0) AS bytes`,
    )
    bytes += size.rows[0]!.bytes
  }
  await Promise.all([source.end(), target.end()])
  return { rows, seconds, bytes }
}
