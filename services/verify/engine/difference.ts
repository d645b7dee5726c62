import { labelOf } from '../tables/index.ts'
import type { ComparedRow, RowValues, VerifiedTable } from '../tables/index.ts'
import { keyText } from './key-set.ts'

/** A column with different values in chain and database. */
export interface ColumnDifference {
  readonly column: string
  readonly chain: unknown
  readonly database: unknown
}

/** A row that differs between chain and database. */
export interface Difference {
  /** Name of the table in reports. */
  readonly table: string
  /** Values of the key columns, joined by slashes. */
  readonly key: string
  /** `missing`: the database lacks the row; `extra`: the chain lacks the row; `differs`: the values differ. */
  readonly kind: 'missing' | 'extra' | 'differs'
  readonly columns: readonly ColumnDifference[]
}

/** A row of chain and database; null for the side without the row. */
export interface Sides {
  readonly key: readonly string[]
  readonly chain: RowValues | null
  readonly database: RowValues | null
}

/** Placeholder for a database value that is unknown and therefore not compared. */
export const unknownValue = { unknown: true } as const

const unknownText = JSON.stringify(unknownValue)

/** The difference between the chain row and the database row of a key; null if both rows agree. */
export function differenceOf(table: VerifiedTable, { key, chain, database }: Sides): Difference | null {
  const at = { table: labelOf(table), key: keyText(key) }
  if (chain === null) return database === null ? null : { ...at, kind: 'extra', columns: [] }
  if (database === null) return { ...at, kind: 'missing', columns: [] }
  const columns = table.columns.flatMap(({ name }) =>
    isSame(chain[name], database[name]) || canonical(database[name]) === unknownText
      ? []
      : [{ column: name, chain: chain[name], database: database[name] }],
  )
  return columns.length === 0 ? null : { ...at, kind: 'differs', columns }
}

/** Whether two values have the same canonical text. Most columns hold texts and numbers, which `===` compares. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || canonical(one) === canonical(other)
}

/** JSON text with members in a fixed order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

export function byKey(rows: readonly ComparedRow[]): Map<string, ComparedRow> {
  return new Map(rows.map((row) => [keyText(row.key), row]))
}
