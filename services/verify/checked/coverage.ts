import type { Origin } from '../../core/model/index.ts'
import { modelTables } from '../../core/model/tables/index.ts'
import { derivedRules } from '../../core/derived/index.ts'
import { verifiedTables } from '../tables/index.ts'
import type { VerifiedTable } from '../tables/index.ts'

/** How `verify` accounts for a column. */
export type ColumnCheck =
  | { readonly kind: 'compared' }
  | { readonly kind: 'recomputed'; readonly rules: readonly string[] }
  | { readonly kind: 'not checked'; readonly reason: string }

/** Table with its schema, to column, to how it is accounted for. */
export type Coverage = ReadonlyMap<string, ReadonlyMap<string, ColumnCheck>>

/** Why a column that is neither compared nor recomputed cannot be checked, by where its values come from. */
const notChecked: Readonly<Partial<Record<Origin, string>>> = {
  block:
    'times and blocks of the past: the chain does not hold them, only contradictions between rows are found',
  action:
    'what actions of the past said: the chain does not hold it, only contradictions between rows are found',
  decoding: 'what the reader itself decodes by: rows that were decoded wrongly differ from the chain',
  identity: 'the id of the chain: a node of another chain is refused, the other sources do not have it',
  state: 'rows of the handler state: with --state, the other rows are compared with these',
}

type Checks = Map<string, Map<string, ColumnCheck>>

function set(checks: Checks, table: string, columns: Iterable<string>, check: ColumnCheck): void {
  const ofTable = checks.get(table) ?? new Map<string, ColumnCheck>()
  checks.set(table, ofTable)
  for (const column of columns) ofTable.set(column, check)
}

/** Why a column that is compared where its rows can be read was not. */
const UNANSWERED = 'the source does not tell which rows there are'

/** Every column that `verify` knows, where these tables are compared. One that is compared with the chain counts as compared, even where a rule reads it too. */
export function readCoverage(compared: readonly VerifiedTable[] = verifiedTables): Coverage {
  const checks: Checks = new Map()
  for (const { name, columns } of modelTables)
    for (const [column, { origin }] of Object.entries(columns)) {
      const reason = notChecked[origin]
      if (reason !== undefined) set(checks, name, [column], { kind: 'not checked', reason })
    }
  const rules = new Map<string, string[]>()
  for (const { rule, covers } of derivedRules) {
    for (const [table, columns] of Object.entries(covers))
      for (const column of columns) {
        const place = `${table} ${column}`
        rules.set(place, [...(rules.get(place) ?? []), rule])
        set(checks, table, [column], { kind: 'recomputed', rules: rules.get(place)! })
      }
  }
  for (const { name, key, columns } of compared) {
    const own = columns.filter(({ children }) => children === undefined)
    if (own.length > 0) {
      set(
        checks,
        name,
        [...key, ...own].map((column) => column.name),
        { kind: 'compared' },
      )
    }
    for (const { children } of columns)
      if (children)
        set(checks, children.table, [...children.by, ...Object.keys(children.columns)], { kind: 'compared' })
  }
  return checks
}

/** Whether every column of a table is compared with the chain: the chain's row is all that the database holds of it. */
export function isWhole(coverage: Coverage, table: string): boolean {
  return [...(coverage.get(table)?.values() ?? [])].every(({ kind }) => kind === 'compared')
}

/** Numbers of columns and rows that a comparison covers. */
export interface CoverageReport {
  /** Columns that are compared with the chain. */
  readonly compared: number
  /** Columns that are recomputed from other rows. */
  readonly recomputed: number
  readonly notChecked: readonly { readonly reason: string; readonly columns: readonly string[] }[]
  /** Rows that ended on the chain: their columns are not compared with it. */
  readonly ended: readonly { readonly rows: string; readonly count: number }[]
}

/** Sums the columns of these schemas, where these tables were compared. */
export function reportCoverage(
  schemas: ReadonlySet<string>,
  tables: readonly VerifiedTable[],
  ended: CoverageReport['ended'],
): CoverageReport {
  let [compared, recomputed] = [0, 0]
  const open = new Map<string, string[]>()
  const done = readCoverage(tables)
  for (const [table, columns] of readCoverage()) {
    if (!schemas.has(table.split('.')[0]!)) continue
    for (const column of columns.keys()) {
      const check = done.get(table)?.get(column) ?? { kind: 'not checked', reason: UNANSWERED }
      if (check.kind === 'compared') compared++
      else if (check.kind === 'recomputed') recomputed++
      else open.set(check.reason, [...(open.get(check.reason) ?? []), `${table}.${column}`])
    }
  }
  return {
    compared,
    recomputed,
    notChecked: [...open].map(([reason, columns]) => ({ reason, columns })),
    ended,
  }
}
