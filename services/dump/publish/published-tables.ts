import type pg from 'pg'

/** A table of the dump, as the database describes it. */
export interface PublishedTable {
  readonly name: string
  /** All columns except generated columns, ascending by name: the order of the fields in each line of a dump file. */
  readonly columns: readonly string[]
  /** Sort columns of the rows: the primary key, or all columns if the table has none. */
  readonly key: readonly string[]
  /** Numbers of the partitions; empty for a table without partitions. */
  readonly partitions: readonly string[]
}

const publishedSchemas = ['assets', 'chain', 'market', 'oracle', 'state', 'tools', 'undo']

/**
 * Tables of the local installation: leases, feed of live events, named lists, tasks. API keys are in a separate
 * schema, which is never published.
 */
const unpublished = [
  'chain.feed',
  'chain.feeds',
  'chain.heartbeats',
  'chain.import_steps',
  'chain.leases',
  'chain.list_sources',
  'chain.lists',
  'chain.tasks',
]

/** Columns that are empty in a dump: the source address of an import would reveal a host of the operator. */
export const isBlanked = (table: string, column: string): boolean =>
  table === 'chain.imports' && column === 'source'

/** Reads the tables to publish, ascending by name. */
export async function readPublishedTables(client: pg.ClientBase): Promise<PublishedTable[]> {
  const { rows } = await client.query<PublishedTable>(
    `SELECT n.nspname || '.' || c.relname AS name,
       ARRAY(SELECT a.attname::text FROM pg_attribute a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
         ORDER BY a.attname COLLATE "C") AS columns,
       coalesce((SELECT array_agg(a.attname::text ORDER BY k.place) FROM pg_index i
           CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY k(number, place)
           JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
         WHERE i.indrelid = c.oid AND i.indisprimary AND k.place <= i.indnkeyatts), '{}') AS key,
       ARRAY(SELECT substring(p.relname FROM '_(\\d+)$') FROM pg_inherits h JOIN pg_class p ON p.oid = h.inhrelid
         WHERE h.inhparent = c.oid AND c.relkind = 'p' ORDER BY substring(p.relname FROM '_(\\d+)$')::bigint) AS partitions
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = ANY ($1)
       AND n.nspname || '.' || c.relname <> ALL ($2)
     ORDER BY 1`,
    [publishedSchemas, unpublished],
  )
  return rows.map((table) => ({ ...table, key: table.key.length === 0 ? table.columns : table.key }))
}
