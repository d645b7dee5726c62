import type { Origin } from '../../core/model/index.ts'
import { modelTables } from '../../core/model/tables/index.ts'
import { derivedRules } from '../../core/derived/index.ts'
import { sealedKinds } from '../../core/seals/index.ts'
import { verifiedTables } from '../tables/index.ts'
import type { VerifiedTable } from '../tables/index.ts'

/** How `verify` checks a column. */
export type ColumnCheck =
  | { readonly kind: 'compared' }
  | { readonly kind: 'recomputed'; readonly rules: readonly string[] }
  | { readonly kind: 'not checked'; readonly reason: string }

/** For each table and column: how `verify` checks it. */
export type Coverage = ReadonlyMap<string, ReadonlyMap<string, ColumnCheck>>

/** Reason why a column is neither compared nor recomputed, by the origin of its values. */
const notChecked: Readonly<Partial<Record<Origin, string>>> = {
  block:
    'times and blocks of past changes: the chain tables do not contain them, so only contradictions between rows are found',
  action:
    'data of past actions: the chain tables do not contain them, so only contradictions between rows are found',
  decoding:
    'data with which the reader decodes rows: if they are wrong, a decoded row differs from the chain',
  identity:
    'the id of the chain: a node of another chain is refused, and the other sources do not have the id',
  state:
    'rows of the handler state: with --state, verify compares the rows of the other handlers with these rows',
}

/** Columns that seals cover; a value is sealed once it cannot change any more. */
const sealedColumns = new Set(
  sealedKinds.flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`)),
)
const SEALED = '; sealed: --seals finds later changes, --history compares the rows with the blocks'

type Checks = Map<string, Map<string, ColumnCheck>>

function set(checks: Checks, table: string, columns: Iterable<string>, check: ColumnCheck): void {
  const ofTable = checks.get(table) ?? new Map<string, ColumnCheck>()
  checks.set(table, ofTable)
  for (const column of columns) ofTable.set(column, check)
}

/** The reason in the report for the unchecked columns of a table whose rows the source cannot list. */
const UNANSWERED = 'the source cannot list the rows of the table'

/**
 * All columns that `verify` checks if the given tables are compared. A column that is compared and also read by a rule
 * counts as compared.
 */
export function readCoverage(compared: readonly VerifiedTable[] = verifiedTables): Coverage {
  const checks: Checks = new Map()
  for (const { name, columns } of modelTables)
    for (const [column, { origin }] of Object.entries(columns)) {
      const reason = notChecked[origin]
      if (reason === undefined) continue
      const sealed = sealedColumns.has(`${name}.${column}`) ? SEALED : ''
      set(checks, name, [column], { kind: 'not checked', reason: reason + sealed })
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

/**
 * Whether every column of a table is compared with the chain, so that a chain row determines the whole database row.
 */
export function isWhole(coverage: Coverage, table: string): boolean {
  return [...(coverage.get(table)?.values() ?? [])].every(({ kind }) => kind === 'compared')
}

/** Numbers of columns and rows that a comparison covers. */
export interface CoverageReport {
  /** Number of columns that are compared with the chain. */
  readonly compared: number
  /** Number of columns that are recomputed from other rows. */
  readonly recomputed: number
  readonly notChecked: readonly { readonly reason: string; readonly columns: readonly string[] }[]
  /** Numbers of rows that no longer exist on the chain, and so cannot be compared with it. */
  readonly ended: readonly { readonly rows: string; readonly count: number }[]
}

/** Counts the columns of the given schemas by how they are checked. */
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
