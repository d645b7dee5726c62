import type pg from 'pg'
import { assetsRules } from './assets-rules.ts'
import { marketRules } from './market-rules.ts'
import type { DerivedRule, RecomputedTable } from './rule.ts'

/** Every counter, sum and state that follows from other rows; each rule stands after those whose rows it reads. */
const derivedRules: readonly DerivedRule[] = [...assetsRules, ...marketRules]

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

/** The result of a repair of what is derived. */
export interface DerivedRepairs {
  /** Rules whose rows were written again and that hold now. */
  readonly rebuilt: readonly string[]
  /** Rules that rows still break. */
  readonly broken: readonly string[]
}

/**
 * Checks rule after rule, each after those that it reads from, and writes the rows of broken ones where that is possible.
 * Afterwards every rule is checked again: a correction does not cover every row that breaks its rule.
 */
export async function repairDerived(client: pg.ClientBase): Promise<DerivedRepairs> {
  const found: string[] = []
  for (const { rule, violations, recomputed, correction } of derivedRules) {
    if (!(await hasRows(client, violations))) continue
    found.push(rule)
    if (recomputed !== undefined) await rebuild(client, recomputed)
    if (correction !== undefined) await client.query(correction)
  }
  if (found.length === 0) return { rebuilt: [], broken: [] }
  const broken: string[] = []
  for (const { rule, violations } of derivedRules) if (await hasRows(client, violations)) broken.push(rule)
  return { rebuilt: found.filter((rule) => !broken.includes(rule)), broken }
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
  const names = columns.split(',').map((column) => column.trim().replace(/::.*/, ''))
  const same = names.map((name) => `t.${name} IS NOT DISTINCT FROM m.${name}`).join(' AND ')
  await client.query(`DELETE FROM ${table} t WHERE NOT EXISTS (SELECT 1 FROM recomputed m WHERE ${same})`)
  await client.query(
    `INSERT INTO ${table} (${names.join(', ')}) SELECT m.* FROM recomputed m WHERE NOT EXISTS (SELECT 1 FROM ${table} t WHERE ${same})`,
  )
  await client.query('DROP TABLE recomputed')
}
