import type pg from 'pg'
import { columnNames, findBroken, heldRules } from '../../core/derived/index.ts'
import type { DerivedRule, RecomputedTable } from '../../core/derived/index.ts'

/** A broken rule whose violating rows the repair does not correct, with the reason. */
export interface RefusedRule {
  readonly rule: string
  readonly why: string
}

/** Result of a repair of derived rows. */
export interface DerivedRepairs {
  /** Rules whose rows were rewritten, and which hold now. */
  readonly rebuilt: readonly string[]
  readonly refused: readonly RefusedRule[]
}

/**
 * Checks the derived rules in dependency order. Corrects the rows that break a rule, unless some of the rows from which
 * the rule derives values were not compared with the chain.
 *
 * @param unproven families with rows that were not compared.
 */
export async function repairDerived(
  client: pg.ClientBase,
  unproven: ReadonlySet<string>,
): Promise<DerivedRepairs> {
  const rebuilt: string[] = []
  const refused: RefusedRule[] = []
  for (const derived of await heldRules(client)) {
    const { rule, violations, recomputed, correction } = derived
    if (!(await isBroken(client, derived))) continue
    const why = [...unproven].some((family) => violations.includes(`${family}.`))
      ? 'some of the rows from which the rule derives values were not compared'
      : whyRefused(derived)
    if (why !== null) {
      refused.push({ rule, why })
      continue
    }
    if (recomputed !== undefined) await rebuild(client, recomputed)
    if (correction !== undefined) await client.query(correction)
    if (await isBroken(client, derived))
      refused.push({ rule, why: 'the SQL that recomputes the values leaves some violating rows unchanged' })
    else rebuilt.push(rule)
  }
  return { rebuilt, refused }
}

/** Reason why the repair cannot correct the violating rows of a broken rule; null if the repair can. */
function whyRefused({ recomputed, correction, restsOn }: DerivedRule): string | null {
  if (restsOn !== undefined) return `${restsOn} may be wrong, and the chain no longer contains these rows`
  return recomputed === undefined && correction === undefined
    ? 'the rule does not show which of the contradicting rows is wrong'
    : null
}

async function isBroken(client: pg.ClientBase, rule: DerivedRule): Promise<boolean> {
  return (
    (await findBroken(
      async (text) => (await client.query<{ text: string; count: bigint }>(text)).rows,
      rule,
      1,
    )) !== null
  )
}

/** Replaces the rows of a table that differ from the recomputed rows; equal rows are not written. */
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
