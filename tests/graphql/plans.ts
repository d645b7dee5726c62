import type pg from 'pg'

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

/** Tables that a contract keeps small: they may be read from end to end. */
const SMALL = /^(tokens|config|symbol_pairs|pairs|log_actions|marketplaces)$/

/** What a plan reads from end to end, though tables are said to be large: tables and indexes without a condition. */
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
 * Lets the planner of this database take every table for one of millions of rows whose values are spread evenly, so that
 * plans of a small database are those of a large one. Needs a superuser; lasts until tables are analysed again.
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
