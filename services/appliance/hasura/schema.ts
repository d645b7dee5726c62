import type pg from 'pg'

/** A table or view of the database as GraphQL may show it. */
export interface ShownTable {
  readonly schema: string
  readonly name: string
  readonly comment: string | null
  readonly columns: readonly {
    readonly name: string
    /** Type name in PostgreSQL, such as `bigint`. */
    readonly type: string
    readonly comment: string | null
  }[]
}

/** Tables and views of some schemas, without partitions; columns in the order of the table. */
export async function readTables(client: pg.ClientBase, schemas: readonly string[]): Promise<ShownTable[]> {
  const { rows } = await client.query<ShownTable>(
    `SELECT n.nspname AS schema, c.relname AS name, obj_description(c.oid, 'pg_class') AS comment,
       (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, NULL), 'comment', col_description(c.oid, a.attnum)) ORDER BY a.attnum)
        FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition
     ORDER BY 1, 2`,
    [[...schemas]],
  )
  return rows
}
