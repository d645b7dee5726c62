/**
 * SQL for the sizes of all tables and of the database, largest table first. Sizes are file lengths, so no table is
 * read. Partitions count for their parent. The statement reads the length of each file twice: once for the table and
 * once for the total of the database.
 */
export const TABLE_SIZES = `
  WITH parts AS MATERIALIZED (
    SELECT coalesce(pg_partition_root(c.oid), c.oid) AS root,
      CASE WHEN c.relkind <> 'p' AND c.reltuples >= 0 THEN c.reltuples END AS tuples,
      coalesce(pg_table_size(c.oid), 0) AS table_bytes, coalesce(pg_indexes_size(c.oid), 0) AS index_bytes
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'm', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
  )
  SELECT n.nspname, r.relname, sum(p.tuples)::bigint::text, sum(p.table_bytes)::text, sum(p.index_bytes)::text,
    (SELECT pg_database_size(current_database()))::text
  FROM parts p JOIN pg_class r ON r.oid = p.root JOIN pg_namespace n ON n.oid = r.relnamespace
  GROUP BY 1, 2 ORDER BY sum(p.table_bytes) + sum(p.index_bytes) DESC, 1, 2`

/**
 * Result row of TABLE_SIZES: schema, table, estimated rows (null before the first ANALYZE), bytes, bytes of the
 * indexes, bytes of the database.
 */
export type TableSizeRow = [string, string, string | null, string, string, string]
