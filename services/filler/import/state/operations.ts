import type { CommitUnit } from '../../store/index.ts'
import { entityTables } from './entity-rows.ts'

type Value = bigint | number | string | boolean | null | Uint8Array | readonly unknown[]

/** Effect of actions on a row: all columns if an action created the row, else the changed columns only. */
export interface RowOperation {
  readonly name: string
  readonly key: bigint
  readonly row: Readonly<Record<string, unknown>>
  readonly isWhole: boolean
}

/** Extracts the operations on entity tables from a unit. */
export function operationsOf(unit: CommitUnit): RowOperation[] {
  return [...unit.tables].flatMap(([table, { rows }]) => {
    const entity = entityTables.find((known) => known.table.name === table.name)
    if (entity === undefined) return []
    return [...rows.values()].map(({ kind, row }) => ({
      name: table.name,
      key: BigInt(row[entity.key] as bigint | number),
      // The row may have existed before the import began. Its creation time is then unknown, so leave out the preserved
      // columns.
      row: kind === 'upsert' ? without(row, entity.table.preserved) : row,
      isWhole: kind === 'insert' || kind === 'replace',
    }))
  })
}

function without(
  row: Readonly<Record<string, unknown>>,
  columns: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !columns.includes(name)))
}

/** Encodes a row as JSON; bigint and bytes, which JSON lacks, become {"bigint": text} and {"bytes": hex}. */
export function encodeRow(row: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(row, (_, value: unknown) => {
    if (typeof value === 'bigint') return { bigint: value.toString() }
    // Only a `Uint8Array` arrives as bytes; a `Buffer` has a toJSON, which runs before this replacer.
    return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('hex') } : value
  })
}

/** Decodes a row that `encodeRow` encoded. */
export function decodeRow(row: Readonly<Record<string, unknown>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, decodeValue(value)]))
}

function decodeValue(value: unknown): Value {
  if (Array.isArray(value)) return value.map(decodeValue)
  if (typeof value !== 'object' || value === null) return value as Value
  const { bigint, bytes } = value as { bigint?: string; bytes?: string }
  return bigint === undefined ? Buffer.from(bytes!, 'hex') : BigInt(bigint)
}
