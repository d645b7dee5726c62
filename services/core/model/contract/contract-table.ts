import { attributesToJsonText, decodeAttributes } from '../../antelope/attributes/index.ts'
import { parseAsset, parseSymbol } from '../../antelope/index.ts'
import { hexToBytes } from '../../bytes/index.ts'
import type { ColumnValue, JsonText } from '../column.ts'
import type { Table } from '../table.ts'

/** A contract family, as in chain.sources. */
export type Family = 'assets' | 'market' | 'oracle' | 'tools'

/** A field of a format list. */
export interface FormatField {
  readonly name: string
  readonly type: string
}

/** Formats by which packed attributes are decoded. */
export interface Formats {
  /** Fields of collection data. */
  readonly collectionFormat: readonly FormatField[]
  /** Fields of a schema; none when it is not known. */
  readonly formatOf: (collection: string, schema: string) => readonly FormatField[]
}

/**
 * A row of a contract table, decoded. Decoders give one value different forms: a 64-bit integer is a bigint, a number or a
 * decimal text, bytes are hexadecimal text or a list of numbers, a truth value may be 0 or 1. Readers take each of them.
 */
export interface ContractRow {
  readonly scope: string
  readonly data: Readonly<Record<string, unknown>>
  readonly formats: Formats
}

/** A 64-bit integer in any of its forms. */
export type AnyInteger = bigint | number | string

/** Reads the value of a column from a row of the contract. */
export type ColumnReader<Value = ColumnValue> = (row: ContractRow) => Value

/** Rows of another table that belong to a row: the contract has them as a list in a field. */
export interface ChildRows {
  /** Name of the list in reports. */
  readonly name: string
  readonly table: Table
  /** Columns of the other table that hold the key of this row, in key order; empty if this table has only one row. */
  readonly by: readonly string[]
  /** Columns that follow from the list; the first of them orders the rows. */
  readonly columns: readonly string[]
  readonly rows: (row: ContractRow) => readonly Readonly<Record<string, ColumnValue>>[]
}

/** A table of a contract, and how columns of a table of the database follow from its rows. */
export interface ContractTable {
  readonly family: Family
  /** Name of the contract's table. */
  readonly name: string
  readonly table: Table
  /** Columns that identify a row of the contract. The last of them is made of the primary key, if there is more than one row. */
  readonly key: readonly string[]
  /** Field that the primary key of a row is made of; null in a table of one row, whose key is its name. */
  readonly primary: string | null
  /** The columns that follow from a row, those of the key first. */
  readonly columns: Readonly<Record<string, ColumnReader>>
  readonly children: readonly ChildRows[]
}

/** A contract table with the type of what its rows give. */
export interface TypedContractTable<Read extends object> extends ContractTable {
  readonly columns: Readonly<Record<string, ColumnReader>> & {
    readonly [Name in keyof Read]: ColumnReader<Read[Name] & ColumnValue>
  }
}

/** Columns of a table that readers give. */
type Readers<R extends object, Known extends keyof R> = { readonly [Name in Known]: ColumnReader<R[Name]> }

/** Facts of a contract table besides its columns. */
interface Shape {
  readonly family: Family
  readonly name: string
  readonly primary?: string
  /** The key, where it is not that of the table. */
  readonly key?: readonly string[]
  readonly children?: readonly ChildRows[]
}

/** Describes a contract table. */
export function contractTable<R extends object, Known extends keyof R & string>(
  shape: Shape,
  table: { readonly row?: R; readonly key: readonly string[] },
  columns: Readers<R, Known>,
): TypedContractTable<Pick<R, Known>> {
  const { family, name, primary = null, key = table.key, children = [] } = shape
  return {
    ...{ family, name, primary, key, children },
    table: table as unknown as Table,
    columns: columns as unknown as TypedContractTable<Pick<R, Known>>['columns'],
  }
}

/** Describes rows of another table that belong to a row. */
export function childRows<R extends object, Known extends keyof R & string>(
  shape: { readonly name: string; readonly by: readonly (keyof R & string)[] },
  table: { readonly row?: R },
  columns: readonly Known[],
  rows: (row: ContractRow) => readonly Pick<R, Known>[],
): ChildRows {
  return { ...shape, table: table as unknown as Table, columns, rows: rows as unknown as ChildRows['rows'] }
}

/** The columns that follow from a row of a contract. */
export function readColumns<Read extends object>(table: TypedContractTable<Read>, row: ContractRow): Read {
  const read: Record<string, ColumnValue> = {}
  for (const [name, reader] of Object.entries(table.columns)) read[name] = reader(row)
  return read as Read
}

/** The scope of the row. */
export const scope: ColumnReader<string> = (row) => row.scope

/** An integer that fits a double. */
export const int =
  (field: string): ColumnReader<number> =>
  ({ data }) =>
    Number(data[field])

/** An integer of up to 64 bits. */
export const big =
  (field: string): ColumnReader<bigint> =>
  ({ data }) =>
    BigInt(data[field] as AnyInteger)

/** A list of 64-bit integers. */
export const bigs =
  (field: string): ColumnReader<readonly bigint[]> =>
  ({ data }) =>
    (data[field] as AnyInteger[]).map(BigInt)

/** A name or other text. */
export const text =
  (field: string): ColumnReader<string> =>
  ({ data }) =>
    data[field] as string

/** A list of names. */
export const texts =
  (field: string): ColumnReader<readonly string[]> =>
  ({ data }) =>
    data[field] as string[]

/** A truth value. */
export const flag =
  (field: string): ColumnReader<boolean> =>
  ({ data }) =>
    isTrue(data[field])

/** Whether a truth value, which nodes print as 0 or 1, is true. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1 || value === 'true'
}

/** A double, which nodes print as text. */
export const double = int

/** Amount of a quantity. */
export const amount =
  (field: string): ColumnReader<bigint> =>
  ({ data }) =>
    parseAsset(data[field] as string).amount

/** Symbol code of a quantity. */
export const amountSymbol =
  (field: string): ColumnReader<string> =>
  ({ data }) =>
    parseAsset(data[field] as string).symbol

/** Decimal places of a quantity. */
export const amountPrecision =
  (field: string): ColumnReader<number> =>
  ({ data }) =>
    parseAsset(data[field] as string).precision

/** Code of a symbol. */
export const symbol =
  (field: string): ColumnReader<string> =>
  ({ data }) =>
    parseSymbol(data[field] as string).symbol

/** Decimal places of a symbol. */
export const precision =
  (field: string): ColumnReader<number> =>
  ({ data }) =>
    parseSymbol(data[field] as string).precision

/** Some members of the structs of a list, as JSON text. */
export const members =
  (field: string, ...names: readonly string[]): ColumnReader<JsonText> =>
  ({ data }) =>
    JSON.stringify(
      (data[field] as Record<string, unknown>[]).map((struct) =>
        Object.fromEntries(names.map((name) => [name, struct[name]])),
      ),
    )

/** Bytes. */
export function bytesOf(value: unknown): Uint8Array {
  return typeof value === 'string' ? hexToBytes(value) : Uint8Array.from(value as ArrayLike<number>)
}

/** Packed attributes as JSON text; null without any. */
export function attributes(format: readonly FormatField[], packed: unknown): JsonText | null {
  const { attributes: found } = decodeAttributes(format, bytesOf(packed))
  return Object.keys(found).length === 0 ? null : attributesToJsonText(found)
}

/** Quantities as rows with token and amount. */
export function quantities(value: unknown): { token_symbol: string; amount: bigint }[] {
  return (value as string[]).map((quantity) => {
    const parsed = parseAsset(quantity)
    return { token_symbol: parsed.symbol, amount: parsed.amount }
  })
}
