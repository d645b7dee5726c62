import type pg from 'pg'
import type { Session, Statement } from '../../../services/api/index.ts'
import { readAttributeFilters, readRequest } from '../../../services/api/index.ts'
import { RequestError } from '../../../services/core/http/index.ts'
import { jsonString } from '../../../services/api/index.ts'
import type { RequestCase } from './cases.ts'

/** Tables of which a request may read no more than a part. */
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

/** A node of `EXPLAIN (FORMAT JSON)`; what only `ANALYZE` adds is optional. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

/** A table that a statement reads from end to end, or of whose rows or index entries it reads many. */
export interface TableScan {
  /** Without the number of a partition. */
  readonly table: string
  readonly statement: string
  /** Rows or index entries that were read; undefined for a table that is read from end to end. */
  readonly read?: number
}

/** Tables of which no statement may read a big part, with the rows above which a part is big. */
export type BigParts = ReadonlyMap<string, number>

/** A part of a big table is big when it is this share of its rows, and at least so many. */
const BIG_SHARE = 0.1
const BIG_ROWS = 25_000
/** A table that has fewer rows is not big, whatever its name. */
const FEW_ROWS = 5_000

/** What a big part is of each table that is big. */
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
 * Runs a case with every statement explained first, and returns the tables that it would read from end to end. With
 * `parts` the statements are explained as they ran, and big tables of which they read a big part are returned too.
 * An answer other than success has no plans beyond those of the statements before it.
 */
export async function scansOf(
  client: pg.ClientBase,
  request: RequestCase,
  parts?: BigParts,
): Promise<{ scans: TableScan[]; data: string }> {
  const scans: TableScan[] = []
  const session: Session = {
    async query<Row extends readonly unknown[]>({ text, values }: Statement): Promise<Row[]> {
      // A statement that only asks for a plan has none of its own.
      if (!text.startsWith('EXPLAIN')) scans.push(...(await explain(client, text, values, parts)))
      const { rows } = await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })
      return rows as unknown as Row[]
    },
    snapshot: (work) => work(),
  }
  return { data: await answerOf(session, request), scans }
}

/** The JSON text of what a case is answered with; empty where it is not a success. */
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

/** The tables that a statement would read from end to end; with `parts` also those of which it read a big part. */
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
  // What never runs, as a partition that the executor leaves out, reads nothing, and neither does an empty partition.
  const isRead = node['Actual Loops'] !== 0 && rowsRead(node) !== 0
  const here = node['Node Type'] === 'Seq Scan' && table !== undefined && isRead ? [table] : []
  return [...here, ...(node.Plans ?? []).flatMap(tablesScanned)]
}

/** Rows that a node reads each time; undefined where that was not measured. */
function rowsRead(node: PlanNode): number | undefined {
  const rows = node['Actual Rows']
  if (rows === undefined) return undefined
  return rows + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
}

/** Adds up rows and index entries read from each table. @param heap the table whose bitmap a node below makes. */
function sumRead(node: PlanNode, heap: string | undefined, read: Map<string, number>): void {
  const table = tableOf(node)
  const from = table ?? (node['Node Type'] === 'Bitmap Index Scan' ? heap : undefined)
  if (from !== undefined) {
    const rows = rowsRead(node) ?? 0
    read.set(from, (read.get(from) ?? 0) + rows * (node['Actual Loops'] ?? 0))
  }
  for (const child of node.Plans ?? []) sumRead(child, table ?? heap, read)
}
