import type pg from 'pg'
import { assetsRules } from './assets-rules.ts'
import { childRules } from './child-rules.ts'
import { historyRules } from './history-rules.ts'
import { idRules } from './id-rules.ts'
import { marketRules } from './market-rules.ts'
import type { DerivedRule, Rule } from './rule.ts'

/**
 * Rules of every counter, sum and state that is derived from other rows. Each rule follows the rules whose rows it
 * reads.
 */
export const derivedRules: readonly DerivedRule[] = [
  ...childRules,
  ...idRules,
  ...assetsRules,
  ...marketRules,
  ...historyRules,
]

/** Rows that break a rule. */
export interface DerivedViolations {
  readonly rule: string
  /** Number of rows that break the rule. */
  readonly count: number
  /** Descriptions of the first rows that break the rule. */
  readonly violations: readonly string[]
}

interface BrokenRow {
  text: string
  count: bigint
}

/** Finds the rows that break a rule; null if no row does. @param shown maximum number of rows to describe. */
export async function findBroken(
  query: (text: string) => Promise<BrokenRow[]>,
  { rule, violations }: Rule,
  shown: number,
): Promise<DerivedViolations | null> {
  // MATERIALIZED computes all broken rows first. Otherwise PostgreSQL plans for the few rows of LIMIT: a nested loop,
  // which is slow if no row breaks the rule.
  const rows = await query(
    `WITH broken(text) AS MATERIALIZED (${violations}) SELECT text, (SELECT count(*) FROM broken) FROM broken LIMIT ${shown}`,
  )
  if (rows.length === 0) return null
  return { rule, count: Number(rows[0]!.count), violations: rows.map(({ text }) => text) }
}

/** A broken rule as one text: the name of the rule, then the rows that break the rule. */
export function describeBroken({ rule, count, violations }: DerivedViolations): string {
  const more = count - violations.length
  return `${rule}: ${violations.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/**
 * Rules that must hold. Excludes rules that the source of an import violated with the operator's consent, and rules
 * that read rows of a family that the configuration omits. `verify` names the excluded rules instead of checking them.
 */
export async function heldRules(client: pg.ClientBase): Promise<DerivedRule[]> {
  const accepted = await client.query<{ gap: string }>(
    'SELECT unnest(accepted_gaps) AS gap FROM chain.imports',
  )
  const leftOut = await client.query<{ schema: string }>(
    "SELECT family || '.' AS schema FROM chain.sources WHERE left_out_after IS NOT NULL AND family <> 'state'",
  )
  return derivedRules.filter(
    ({ rule, violations }) =>
      !accepted.rows.some(({ gap }) => gap.startsWith(`${rule}: `)) &&
      !leftOut.rows.some(({ schema }) => violations.includes(schema)),
  )
}

/**
 * Recomputes all derived values in SQL and compares them with the database.
 *
 * @param client in a transaction whose statements see one snapshot.
 * @param shown maximum number of rows to name for each rule.
 */
export async function findDerivedViolations(
  client: pg.ClientBase,
  shown: number,
  onRule?: (rule: string, done: number, of: number) => void,
): Promise<DerivedViolations[]> {
  const found: DerivedViolations[] = []
  const rules = await heldRules(client)
  for (const [i, rule] of rules.entries()) {
    onRule?.(rule.rule, i, rules.length)
    const broken = await findBroken(async (text) => (await client.query<BrokenRow>(text)).rows, rule, shown)
    if (broken !== null) found.push(broken)
  }
  return found
}
