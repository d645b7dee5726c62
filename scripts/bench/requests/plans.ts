import type pg from 'pg'
import type { Session, Statement } from '../../../services/api/database/index.ts'
import {
  readAttributeFilters,
  RequestError,
  validateParameters,
} from '../../../services/api/endpoint/index.ts'
import type { RequestCase } from './cases.ts'

/** A node of `EXPLAIN (FORMAT JSON)`. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Schema?: string
  readonly Plans?: readonly PlanNode[]
}

/** A table that a statement reads from end to end. */
export interface TableScan {
  /** Without the number of a partition. */
  readonly table: string
  readonly statement: string
}

/**
 * Runs a case with every statement explained first, and tells the tables that it would read from end to end.
 * An answer other than success has no plans beyond those of the statements before it.
 */
export async function scansOf(
  client: pg.ClientBase,
  request: RequestCase,
): Promise<{ scans: TableScan[]; data: string }> {
  const scans: TableScan[] = []
  const session: Session = {
    async query<Row extends readonly unknown[]>({ text, values }: Statement): Promise<Row[]> {
      // A statement that only asks for a plan has none of its own.
      if (!text.startsWith('EXPLAIN')) scans.push(...(await explain(client, text, values)))
      const { rows } = await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })
      return rows as unknown as Row[]
    },
  }
  const { endpoint, segments, query } = request
  const raw = new Map(Object.entries(query))
  try {
    const values = await validateParameters(endpoint.parameters, segments, raw, () => Promise.resolve([]))
    const attributes = readAttributeFilters(raw, endpoint.attributes ?? [])
    return { data: await endpoint.run({ session, values, attributes }), scans }
  } catch (error) {
    if (error instanceof RequestError) return { data: '', scans }
    throw error
  }
}

/** The tables that a statement would read from end to end. */
export async function explain(
  client: pg.ClientBase,
  text: string,
  values: readonly unknown[] = [],
): Promise<TableScan[]> {
  const { rows } = await client.query<[[{ Plan: PlanNode }]]>({
    text: `EXPLAIN (FORMAT JSON) ${text}`,
    values: [...values],
    rowMode: 'array',
  })
  return tablesScanned(rows[0]![0][0].Plan).map((table) => ({ table, statement: text }))
}

function tablesScanned(node: PlanNode): string[] {
  const table = node['Relation Name']?.replace(/_\d+$/, '')
  const here = node['Node Type'] === 'Seq Scan' && table !== undefined ? [table] : []
  return [...here, ...(node.Plans ?? []).flatMap(tablesScanned)]
}
