import type { Table, MutableRow } from '../../core/model/index.ts'
import { allMarketListings } from '../../core/model/tables/index.ts'
import type { SealedKind } from '../../core/seals/index.ts'
import type { Handler, Query } from '../handlers/index.ts'
import type { Derivation } from '../rows/operations.ts'
import { toDatabaseText } from '../store/index.ts'
import type { CommitUnit } from '../store/index.ts'

/** State of a row after the replayed blocks. */
export interface ExpectedRow {
  /** New row: all columns. Changed row: the key columns and the columns that the replayed blocks set. */
  readonly row: MutableRow
  /** Whether the replayed blocks add the row. */
  readonly isNew: boolean
}

/**
 * Columns that later blocks may change until the row reaches its final state, for tables whose rows change after the
 * insert.
 */
const changing: Readonly<Record<string, readonly string[]>> = {
  'assets.offers': ['ram_payer', 'state'],
  'assets.templates': ['mutable_data', 'max_supply', 'issued_supply', 'transferable', 'burnable'],
  ...Object.fromEntries(allMarketListings.map(({ table, changing }) => [table.name, changing])),
  'tools.links': ['claimer', 'claimer_signature', 'state'],
}
const updated = new Set(['updated_at_time', 'updated_at_block', 'deleted_at_time', 'deleted_at_block'])

/** Whether a column never changes after its row is inserted. */
export function isConstant(kind: SealedKind, column: string): boolean {
  // Columns that a seal of `assets.mints` covers never change. Columns that a seal of `assets.burns` covers may change
  // until the asset is burned.
  if (kind.table === 'assets.assets') return kind.isOfChangingRows === true
  return !updated.has(column) && changing[kind.table]?.includes(column) !== true
}

/** Returns the rows of a table that a commit unit adds or changes. */
export function expectedRows(unit: CommitUnit, table: string): ExpectedRow[] {
  const found: ExpectedRow[] = []
  for (const [{ name, ...described }, pending] of unit.tables) {
    if (name !== table) continue
    const preserved = described.kind === 'keyed' ? (described.preserved as readonly string[]) : []
    for (const { kind, row, override } of pending.rows.values()) {
      if (kind === 'remove') continue
      // An upsert does not change the preserved columns of an existing row.
      const isUpsert = kind === 'upsert' && preserved.length > 0
      const own = isUpsert
        ? Object.fromEntries(Object.entries(row).filter(([column]) => !preserved.includes(column)))
        : row
      found.push({ row: { ...own, ...override }, isNew: kind !== 'patch' && !isUpsert })
    }
  }
  return found
}

/** Fills the columns of new rows that come from other tables, as the store does before it writes the rows. */
export async function completeRows(
  unit: CommitUnit,
  handlers: readonly Handler[],
  query: Query,
): Promise<void> {
  for (const step of handlers.flatMap(({ derived }) => derived ?? [])) {
    if (step.kind !== 'completion') continue
    for (const [{ name }, { rows }] of unit.tables) {
      if (name !== step.table.name) continue
      const added = [...rows.values()].filter(({ kind }) => kind === 'insert').map(({ row }) => row)
      const keys = new Set(added.flatMap((row) => [...step.keysOf(row)]))
      if (keys.size === 0) continue
      const facts = await query<MutableRow>(step.statement, [[...keys]])
      const byKey = new Map(facts.map((fact) => [BigInt(fact.key as bigint | number), fact]))
      for (const row of added) step.complete(row, byKey)
    }
  }
}

/** Whether a derivation writes trades. */
export const isOfTrades = ({ name }: Derivation): boolean => name.startsWith('trades of ')

/**
 * Condition that limits the derivation of sale prices to sales without a price: the store computes each price once. A
 * replay removes the condition, because a replay computes the prices again.
 */
const ONLY_MISSING = ' AND s.price IS NULL'

/**
 * Runs the derivations that the unit requests, over the rows of the database. Adds the row operations of the
 * derivations to the unit.
 */
export async function deriveRows(
  unit: CommitUnit,
  query: Query,
  nowMs: number,
  isChosen: (derivation: Derivation) => boolean,
): Promise<void> {
  for (const [derivation, keys] of unit.rechecks) {
    if (!isChosen(derivation) || derivation.keys === 'none') continue
    const values = [[...keys], ...(derivation.clock === true ? [nowMs] : [])]
    const rows = await query<MutableRow>(derivation.statement.replace(ONLY_MISSING, ''), values)
    if (rows.length > 0) derivation.apply(rows, unit)
  }
}

/** Formats a row as a JSON object for `jsonb_populate_record`. */
export function jsonOfRow({ columns }: Pick<Table, 'columns'>, row: MutableRow): string {
  const members = Object.entries(row).map(([name, value]) => {
    const type = columns[name]!.type
    if (value === null) return `"${name}":null`
    if (type === 'jsonb') return `"${name}":${toDatabaseText(value)!}`
    return `"${name}":${JSON.stringify(toDatabaseText(value))}`
  })
  return `{${members.join(',')}}`
}
