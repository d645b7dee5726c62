import type pg from 'pg'
import type { Session, Statement } from '../../../services/api/index.ts'
import { readAttributeFilters, readRequest } from '../../../services/api/index.ts'
import { RequestError } from '../../../services/core/http/index.ts'
import { jsonString } from '../../../services/api/index.ts'
import type { RequestCase } from './cases.ts'

/** Tables of which a request may read only a small part. */
export const bigTables: ReadonlySet<string> = new Set([
  ...[
    'assets',
    'templates',
    'logs',
    'blocks',
    'transfers',
    'offers',
    'open_offer_assets',
    'accounts',
    'burners',
  ],
  ...['collection_accounts', 'backed_tokens', 'abis', 'code_accounts'],
  ...['sales', 'auctions', 'bids', 'buyoffers', 'template_buyoffers', 'listing_assets', 'trades'],
  ...['account_stats', 'party_stats', 'template_points', 'royalty_payouts'],
])

/** A node of `EXPLAIN (FORMAT JSON)`. Members that only `ANALYZE` adds are optional. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

/** A table that a statement scans completely, or of which it reads a big part. */
export interface TableScan {
  /** Table name without a partition number. */
  readonly table: string
  readonly statement: string
  /** Number of rows or index entries read; undefined if the table is scanned completely. */
  readonly read?: number
}

/** Big tables, by name, with the number of rows above which a read of a part of the table counts as big. */
export type BigParts = ReadonlyMap<string, number>

/** A read counts as big above this share of a big table's rows, but never below BIG_ROWS rows. */
const BIG_SHARE = 0.1
const BIG_ROWS = 25_000
/** A table with fewer rows does not count as big. */
const FEW_ROWS = 5_000

/** Reads the sizes of the big tables. Computes for each table the number of rows above which a read counts as big. */
export async function bigParts(client: pg.ClientBase): Promise<BigParts> {
  const { rows } = await client.query<{ name: string; rows: number }>(
    `SELECT regexp_replace(c.relname, '_\\d+$', '') AS name, sum(greatest(c.reltuples, 0))::float8 AS rows
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname IN ('assets', 'market', 'tools', 'chain') AND c.relkind = 'r' GROUP BY 1`,
  )
  return new Map(
    rows
      .filter(({ name, rows: count }) => bigTables.has(name) && count >= FEW_ROWS)
      .map(({ name, rows: count }) => [name, Math.max(BIG_ROWS, count * BIG_SHARE)]),
  )
}

/**
 * Runs a case and explains each of its statements. A failing request has only the plans of the statements before the
 * failure.
 * @returns the tables that the statements would scan completely. With `parts`, the statements are explained with
 * ANALYZE, and tables of which a statement read a big part are returned too.
 */
export async function scansOf(
  client: pg.ClientBase,
  request: RequestCase,
  parts?: BigParts,
): Promise<{ scans: TableScan[]; data: string }> {
  const scans: TableScan[] = []
  const session: Session = {
    async query<Row extends readonly unknown[]>({ text, values }: Statement): Promise<Row[]> {
      // Do not explain statements that are an EXPLAIN themselves.
      if (!text.startsWith('EXPLAIN')) scans.push(...(await explain(client, text, values, parts)))
      const { rows } = await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })
      return rows as unknown as Row[]
    },
    snapshot: (work) => work(),
  }
  return { data: await answerOf(session, request), scans }
}

/** JSON text of a case's answer; empty if the request fails. */
async function answerOf(session: Session, { endpoint, segments, query }: RequestCase): Promise<string> {
  const raw = new Map(Object.entries(query))
  try {
    const values = await readRequest(endpoint.parameters, {
      path: segments,
      raw,
      lists: () => Promise.resolve([]),
    })
    const attributes = readAttributeFilters(raw, endpoint.attributes ?? [])
    return jsonString(await endpoint.run({ session, values, attributes }))
  } catch (error) {
    if (error instanceof RequestError) return ''
    throw error
  }
}

/** Tables that a statement scans completely; with `parts`, also tables of which it read a big part. */
export async function explain(
  client: pg.ClientBase,
  text: string,
  values: readonly unknown[] = [],
  parts?: BigParts,
): Promise<TableScan[]> {
  const how = parts ? 'ANALYZE, TIMING OFF, FORMAT JSON' : 'FORMAT JSON'
  const { rows } = await client.query<[[{ Plan: PlanNode }]]>({
    text: `EXPLAIN (${how}) ${text}`,
    values: [...values],
    rowMode: 'array',
  })
  const plan = rows[0]![0][0].Plan
  const scanned = tablesScanned(plan).map((table) => ({ table, statement: text }))
  if (!parts) return scanned
  const whole = scanned.filter(({ table }) => parts.has(table))
  const read = new Map<string, number>()
  sumRead(plan, undefined, read)
  const walked = [...read]
    .filter(([table, count]) => count > (parts.get(table) ?? Infinity))
    .filter(([table]) => !whole.some((scan) => scan.table === table))
    .map(([table, count]) => ({ table, statement: text, read: count }))
  return [...whole, ...walked]
}

function tableOf(node: PlanNode): string | undefined {
  return node['Relation Name']?.replace(/_\d+$/, '')
}

function tablesScanned(node: PlanNode): string[] {
  const table = tableOf(node)
  // Plan nodes that were never executed (pruned partitions) and scans of empty partitions read nothing.
  const isRead = node['Actual Loops'] !== 0 && rowsRead(node) !== 0
  const here = node['Node Type'] === 'Seq Scan' && table !== undefined && isRead ? [table] : []
  return [...here, ...(node.Plans ?? []).flatMap(tablesScanned)]
}

/** Rows that a plan node reads per loop; undefined without ANALYZE. */
function rowsRead(node: PlanNode): number | undefined {
  const rows = node['Actual Rows']
  if (rows === undefined) return undefined
  return rows + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
}

/**
 * Adds the rows and index entries that a plan node and the nodes below it read to `read`, by table.
 * @param heap table of the bitmap heap scan above the node: a bitmap index scan counts as a read of this table.
 */
function sumRead(node: PlanNode, heap: string | undefined, read: Map<string, number>): void {
  const table = tableOf(node)
  const from = table ?? (node['Node Type'] === 'Bitmap Index Scan' ? heap : undefined)
  if (from !== undefined) {
    const rows = rowsRead(node) ?? 0
    read.set(from, (read.get(from) ?? 0) + rows * (node['Actual Loops'] ?? 0))
  }
  for (const child of node.Plans ?? []) sumRead(child, table ?? heap, read)
}
