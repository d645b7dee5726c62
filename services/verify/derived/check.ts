import type pg from 'pg'
import { assetsRules } from './assets-rules.ts'
import { childRules } from './child-rules.ts'
import { historyRules } from './history-rules.ts'
import { idRules } from './id-rules.ts'
import { marketRules } from './market-rules.ts'
import { columnNames } from './rule.ts'
import type { DerivedRule, RecomputedTable } from './rule.ts'

/** Every counter, sum and state that follows from other rows; each rule stands after those whose rows it reads. */
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
  /** How many rows break it. */
  readonly count: number
  /** The first of them, as text. */
  readonly violations: readonly string[]
}

/**
 * Recomputes everything derived in SQL and compares it with the database.
 *
 * @param client in a transaction whose statements see one snapshot.
 * @param shown how many rows of each rule are named.
 */
export async function findDerivedViolations(
  client: pg.ClientBase,
  shown: number,
  onRule?: (rule: string, done: number, of: number) => void,
): Promise<DerivedViolations[]> {
  const found: DerivedViolations[] = []
  for (const [i, { rule, violations }] of derivedRules.entries()) {
    onRule?.(rule, i, derivedRules.length)
    const { rows } = await client.query<{ text: string; count: bigint }>(
      `SELECT v.text, count(*) OVER () FROM (${violations}) v(text) LIMIT ${shown}`,
    )
    if (rows.length > 0)
      found.push({ rule, count: Number(rows[0]!.count), violations: rows.map(({ text }) => text) })
  }
  return found
}

/** A broken rule whose rows a repair does not write. */
export interface RefusedRule {
  readonly rule: string
  readonly why: string
}

/** The result of a repair of what is derived. */
export interface DerivedRepairs {
  /** Rules whose rows were written again and that hold now. */
  readonly rebuilt: readonly string[]
  readonly refused: readonly RefusedRule[]
}

/**
 * Checks rule after rule, each after those that it reads from, and writes the rows of broken ones, where everything that
 * they follow from was compared with the chain.
 *
 * @param isAllCompared whether every table was compared, with all its rows.
 */
export async function repairDerived(client: pg.ClientBase, isAllCompared: boolean): Promise<DerivedRepairs> {
  const rebuilt: string[] = []
  const refused: RefusedRule[] = []
  for (const derived of derivedRules) {
    const { rule, violations, recomputed, correction } = derived
    if (!(await hasRows(client, violations))) continue
    const why = isAllCompared ? whyRefused(derived) : 'not all rows that it follows from were compared'
    if (why !== null) {
      refused.push({ rule, why })
      continue
    }
    if (recomputed !== undefined) await rebuild(client, recomputed)
    if (correction !== undefined) await client.query(correction)
    if (await hasRows(client, violations)) refused.push({ rule, why: 'it does not cover each of these rows' })
    else rebuilt.push(rule)
  }
  return { rebuilt, refused }
}

/** Why the rows of a broken rule cannot be written; null when they can. */
function whyRefused({ recomputed, correction, restsOn }: DerivedRule): string | null {
  if (restsOn !== undefined)
    return `${restsOn} may be the wrong rows, and the chain does not hold them any more`
  return recomputed === undefined && correction === undefined
    ? 'which of the rows is wrong is not known'
    : null
}

async function hasRows(client: pg.ClientBase, query: string): Promise<boolean> {
  const { rows } = await client.query(`SELECT FROM (${query}) v LIMIT 1`)
  return rows.length > 0
}

/** Replaces the rows of a table that differ from the recomputed ones; equal rows are not written. */
async function rebuild(client: pg.ClientBase, { table, columns, rows }: RecomputedTable): Promise<void> {
  await client.query(
    `CREATE TEMP TABLE recomputed ON COMMIT DROP AS SELECT ${columns} FROM ${table} WITH NO DATA`,
  )
  await client.query(`INSERT INTO recomputed ${rows}`)
  const names = columnNames(columns)
  const same = names.map((name) => `t.${name} IS NOT DISTINCT FROM m.${name}`).join(' AND ')
  await client.query(`DELETE FROM ${table} t WHERE NOT EXISTS (SELECT 1 FROM recomputed m WHERE ${same})`)
  await client.query(
    `INSERT INTO ${table} (${names.join(', ')}) SELECT m.* FROM recomputed m WHERE NOT EXISTS (SELECT 1 FROM ${table} t WHERE ${same})`,
  )
  await client.query('DROP TABLE recomputed')
}
