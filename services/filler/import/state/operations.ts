import type { CommitUnit } from '../../store/index.ts'
import { entityTables } from './entity-rows.ts'

type Value = bigint | number | string | boolean | null | Uint8Array | readonly unknown[]

/**
 * Column values that actions gave to one row of an entity table. `isWhole` means that an action created the row: `row`
 * then has all columns. Otherwise `row` has only some of the columns.
 */
export interface RowOperation {
  readonly name: string
  readonly key: bigint
  readonly row: Readonly<Record<string, unknown>>
  readonly isWhole: boolean
}

/** Extracts the operations on the rows of `entityTables` from a commit unit. */
export function operationsOf(unit: CommitUnit): RowOperation[] {
  return [...unit.tables].flatMap(([table, { rows }]) => {
    const entity = entityTables.find((known) => known.table.name === table.name)
    if (entity === undefined) return []
    return [...rows.values()].map(({ kind, row }) => ({
      name: table.name,
      key: BigInt(row[entity.key] as bigint | number),
      // An upsert sets the `preserved` columns, such as the creation time, as if it created the row. If the row is
      // older than the import, these values are wrong, so leave the columns out.
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
    // `JSON.stringify` calls `toJSON` of a `Buffer` before it calls the replacer, so a `Buffer` does not arrive as
    // bytes. Bytes in `row` must be a plain `Uint8Array`.
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
