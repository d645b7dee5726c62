import type { CommitUnit } from '../../store/index.ts'
import { entityTables } from './entity-tables.ts'

type Value = bigint | number | string | boolean | null | Uint8Array | readonly unknown[]

/** What actions did to a row: all of its columns when it was created, else those that were changed. */
export interface RowOperation {
  readonly name: string
  readonly key: bigint
  readonly row: Readonly<Record<string, unknown>>
  readonly isWhole: boolean
}

/** The operations of a unit on rows that actions create and change. */
export function operationsOf(unit: CommitUnit): RowOperation[] {
  return [...unit.tables].flatMap(([table, { rows }]) => {
    const entity = entityTables.find((known) => known.table.name === table.name)
    if (entity === undefined) return []
    return [...rows.values()].map(({ kind, row }) => ({
      name: table.name,
      key: BigInt(row[entity.key] as bigint | number),
      // For a row that may have existed before, the time of its creation is unknown.
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

/** Values as JSON: what JSON has no form for is marked by what it is. */
export function encodeRow(row: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(row, (_, value: unknown) => {
    if (typeof value === 'bigint') return { bigint: value.toString() }
    // Bytes come here as they are only when they have no toJSON.
    return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('hex') } : value
  })
}

/** Values from JSON that `encodeRow` returned. */
export function decodeRow(row: Readonly<Record<string, unknown>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, decodeValue(value)]))
}

function decodeValue(value: unknown): Value {
  if (Array.isArray(value)) return value.map(decodeValue)
  if (typeof value !== 'object' || value === null) return value as Value
  const { bigint, bytes } = value as { bigint?: string; bytes?: string }
  return bigint === undefined ? Buffer.from(bytes!, 'hex') : BigInt(bigint)
}
