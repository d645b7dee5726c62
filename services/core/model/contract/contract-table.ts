import { attributesToJsonText, decodeAttributes } from '../../antelope/attributes/index.ts'
import { parseAsset, parseSymbol } from '../../antelope/index.ts'
import { hexToBytes } from '../../bytes/index.ts'
import type { ColumnValue, JsonText } from '../column.ts'
import type { Table } from '../table.ts'

/** A contract family, named as in the table `chain.sources`. */
export type Family = 'assets' | 'market' | 'oracle' | 'tools'

/** An attribute in the format of a schema: name and type. */
export interface FormatField {
  readonly name: string
  readonly type: string
}

/** Formats that decode packed attributes. */
export interface Formats {
  /** Format of the attributes of collections; all collections of a contract have the same format. */
  readonly collectionFormat: readonly FormatField[]
  /** Attribute format of a schema; empty for an unknown schema. */
  readonly formatOf: (collection: string, schema: string) => readonly FormatField[]
}

/**
 * A decoded row of a contract table. Decoders return the same value in different forms: a 64-bit integer as bigint,
 * number or decimal text; bytes as hexadecimal text or list of numbers; a bool as true, false, 0 or 1. Column readers
 * accept every form.
 */
export interface ContractRow {
  readonly scope: string
  readonly data: Readonly<Record<string, unknown>>
  readonly formats: Formats
}

/** A 64-bit integer in any form that a decoder returns. */
export type AnyInteger = bigint | number | string

/** Reads the value of a column from a row of the contract. */
export type ColumnReader<Value = ColumnValue> = (row: ContractRow) => Value

/** Rows of a child table. The contract stores these rows as a list in a field of the parent row. */
export interface ChildRows {
  /** Name of the list in reports, such as `quantities`. */
  readonly name: string
  readonly table: Table
  /**
   * Columns of the child table that hold the key of the parent row, in key order; empty if the parent table
   * has only one row.
   */
  readonly by: readonly string[]
  /**
   * Columns of the child table that hold the elements of the list. A comparison with the chain sorts the rows by the
   * first of these columns.
   */
  readonly columns: readonly string[]
  readonly rows: (row: ContractRow) => readonly Readonly<Record<string, ColumnValue>>[]
}

/** A table of a contract, and how its rows determine columns of the database. */
export interface ContractTable {
  readonly family: Family
  /** Name of the contract's table. */
  readonly name: string
  readonly table: Table
  /**
   * Database columns that identify a row of the contract. The last column contains the primary key, except in a table
   * with only one row.
   */
  readonly key: readonly string[]
  /**
   * Field that determines the primary key of a row; null in a table with only one row, whose key is the table's name.
   */
  readonly primary: string | null
  /** For each database column that a contract row determines: the function that reads its value, key columns first. */
  readonly columns: Readonly<Record<string, ColumnReader>>
  readonly children: readonly ChildRows[]
}

/** Type of a contract table that includes the types of its column values. */
export interface TypedContractTable<Read extends object> extends ContractTable {
  readonly columns: Readonly<Record<string, ColumnReader>> & {
    readonly [Name in keyof Read]: ColumnReader<Read[Name] & ColumnValue>
  }
}

/** Functions that read column values from a contract row: one function for each column of `Known`. */
type Readers<R extends object, Known extends keyof R> = { readonly [Name in Known]: ColumnReader<R[Name]> }

/** Properties of a contract table other than its columns. */
interface Shape {
  readonly family: Family
  readonly name: string
  readonly primary?: string
  /** Database columns that identify a row of the contract, if they differ from the key of the database table. */
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

/** Describes the rows of a child table. */
export function childRows<R extends object, Known extends keyof R & string>(
  shape: { readonly name: string; readonly by: readonly (keyof R & string)[] },
  table: { readonly row?: R },
  columns: readonly Known[],
  rows: (row: ContractRow) => readonly Pick<R, Known>[],
): ChildRows {
  return { ...shape, table: table as unknown as Table, columns, rows: rows as unknown as ChildRows['rows'] }
}

/** Reads the database columns from a contract row. */
export function readColumns<Read extends object>(table: TypedContractTable<Read>, row: ContractRow): Read {
  const read: Record<string, ColumnValue> = {}
  for (const [name, reader] of Object.entries(table.columns)) read[name] = reader(row)
  return read as Read
}

export const scope: ColumnReader<string> = (row) => row.scope

/** Reads an integer that a double represents exactly. */
export const int =
  (field: string): ColumnReader<number> =>
  ({ data }) =>
    Number(data[field])

/** Reads an integer of up to 64 bits. */
export const big =
  (field: string): ColumnReader<bigint> =>
  ({ data }) =>
    BigInt(data[field] as AnyInteger)

/** Reads a list of 64-bit integers. */
export const bigs =
  (field: string): ColumnReader<readonly bigint[]> =>
  ({ data }) =>
    (data[field] as AnyInteger[]).map(BigInt)

/** Reads a field that holds text: a name of the chain, or a string. */
export const text =
  (field: string): ColumnReader<string> =>
  ({ data }) =>
    data[field] as string

/** Reads a list of names. */
export const texts =
  (field: string): ColumnReader<readonly string[]> =>
  ({ data }) =>
    data[field] as string[]

/** Reads a bool. */
export const flag =
  (field: string): ColumnReader<boolean> =>
  ({ data }) =>
    isTrue(data[field])

/** Whether a bool is true. Nodes print a bool as 0 or 1. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1 || value === 'true'
}

/** Reads a double. Nodes print a double as text. */
export const double = int

/** Reads the amount of a quantity. */
export const amount =
  (field: string): ColumnReader<bigint> =>
  ({ data }) =>
    parseAsset(data[field] as string).amount

/** Reads the symbol code of a quantity. */
export const amountSymbol =
  (field: string): ColumnReader<string> =>
  ({ data }) =>
    parseAsset(data[field] as string).symbol

/** Reads the decimal places of a quantity. */
export const amountPrecision =
  (field: string): ColumnReader<number> =>
  ({ data }) =>
    parseAsset(data[field] as string).precision

/** Reads the code of a symbol. */
export const symbol =
  (field: string): ColumnReader<string> =>
  ({ data }) =>
    parseSymbol(data[field] as string).symbol

/** Reads the decimal places of a symbol. */
export const precision =
  (field: string): ColumnReader<number> =>
  ({ data }) =>
    parseSymbol(data[field] as string).precision

/** Reads a list of structs as JSON text, with only the named members. */
export const members =
  (field: string, ...names: readonly string[]): ColumnReader<JsonText> =>
  ({ data }) =>
    JSON.stringify(
      (data[field] as Record<string, unknown>[]).map((struct) =>
        Object.fromEntries(names.map((name) => [name, struct[name]])),
      ),
    )

/** Returns bytes from hexadecimal text or from a list of numbers. */
export function bytesOf(value: unknown): Uint8Array {
  return typeof value === 'string' ? hexToBytes(value) : Uint8Array.from(value as ArrayLike<number>)
}

/** Decodes packed attributes to JSON text; null if there are none. */
export function attributes(format: readonly FormatField[], packed: unknown): JsonText | null {
  const { attributes: found } = decodeAttributes(format, bytesOf(packed))
  return Object.keys(found).length === 0 ? null : attributesToJsonText(found)
}

/** Converts quantities to rows of token and amount. */
export function quantities(value: unknown): { token_symbol: string; amount: bigint }[] {
  return (value as string[]).map((quantity) => {
    const parsed = parseAsset(quantity)
    return { token_symbol: parsed.symbol, amount: parsed.amount }
  })
}
