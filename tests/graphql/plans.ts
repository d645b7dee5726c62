import type pg from 'pg'

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

/** Tables that every contract keeps small. A plan may scan them entirely. */
const SMALL = /^(tokens|config|symbol_pairs|pairs|log_actions|marketplaces)$/

/**
 * Returns the large tables and indexes that the plan of a statement scans entirely, that is, without an index
 * condition.
 */
export async function readUnservedScans(client: pg.ClientBase, statement: string): Promise<string[]> {
  const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
    `EXPLAIN (FORMAT JSON) ${statement}`,
  )
  return unserved(rows[0]!['QUERY PLAN'][0].Plan)
}

function unserved(node: PlanNode): string[] {
  const below = (node.Plans ?? []).flatMap(unserved)
  const type = node['Node Type']
  const relation = node['Relation Name'] ?? ''
  if (type === 'Seq Scan' && !SMALL.test(relation)) {
    return [...below, `${type} on ${relation}`]
  }
  const isIndexScan = /^(?:Index Scan|Index Only Scan|Bitmap Index Scan)$/.test(type)
  if (isIndexScan && node['Index Cond'] === undefined && !SMALL.test(relation)) {
    return [...below, `${type} of all ${node['Index Name'] ?? relation}`]
  }
  return below
}

/**
 * Changes the statistics of this database so that the planner expects millions of evenly distributed rows in every
 * table, and so plans as for a large database. Needs a superuser; the next ANALYZE of a table ends the effect.
 */
export async function pretendMillions(client: pg.ClientBase): Promise<void> {
  await client.query(
    `DELETE FROM pg_statistic USING pg_class c
     WHERE starelid = c.oid AND c.relnamespace IN ('assets'::regnamespace, 'market'::regnamespace, 'tools'::regnamespace)`,
  )
  await client.query(
    `UPDATE pg_class SET reltuples = CASE WHEN relname ~ '^(collection|schema)' THEN 1e4 ELSE 1e7 END, relpages = greatest(1, pg_relation_size(oid) / 8192)
     WHERE relkind IN ('r', 'i') AND relnamespace IN ('assets'::regnamespace, 'market'::regnamespace, 'tools'::regnamespace)
       AND relname !~ '^(tokens|config|symbol_pairs|log_actions|marketplaces)(_|$)'`,
  )
}
