import type { Session, Statement } from '../../../database/index.ts'

/** The parts of a plan that are looked at. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Plan Rows': number
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/** What the planner expects of a statement. */
export interface Expectation {
  readonly rows: number
  /** Tables, without schema, that would be read from end to end. */
  readonly walked: readonly string[]
}

/** Asks the planner what it expects of a statement; nothing is executed. */
export async function expectationOf(session: Session, { text, values }: Statement): Promise<Expectation> {
  const rows = await session.query<[[{ Plan: PlanNode }]]>({
    text: `EXPLAIN (FORMAT JSON) ${text}`,
    values,
  })
  const plan = rows[0]![0][0].Plan
  return { rows: plan['Plan Rows'], walked: walkedBy(plan) }
}

/** How many rows the planner expects of a statement. */
export async function expectedRows(session: Session, statement: Statement): Promise<number> {
  return (await expectationOf(session, statement)).rows
}

function walkedBy(node: PlanNode): string[] {
  const table = node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? ''] : []
  return [...table, ...(node.Plans ?? []).flatMap(walkedBy)]
}
