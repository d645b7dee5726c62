import { EncodeError } from '../../core/bytes/index.ts'
import type { ContractRow, Family, Formats } from '../../core/model/contract/index.ts'

/** A row of a contract table, decoded. */
export type ChainRow = Pick<ContractRow, 'scope' | 'data'>

/** Values of a row by column, in JSON: 64-bit integers as decimal text. */
export type RowValues = Readonly<Record<string, unknown>>

/** A row as both sides have it. */
export interface ComparedRow {
  /** Values of the key columns as text. */
  readonly key: readonly string[]
  readonly values: RowValues
}

/** A key column. */
export interface KeyColumn {
  readonly name: string
  readonly type: string
}

/** A compared column. */
export interface Column {
  readonly name: string
  /** SQL of its value in JSON-safe form; without it, the column itself. */
  readonly sql?: string
  /** SQL condition under which the database does not know the value, so that it is not compared. */
  readonly unknown?: string
  /** SQL type that a repair writes it as; without it, a repair cannot write it. */
  readonly type?: string
  /** SQL that a repair writes instead of the value, with `$` for it, such as `decode($, 'hex')`. */
  readonly write?: string
  /** Text that stands for several: a repair cannot write a value of the chain with it. */
  readonly unsure?: string
  /** Rows of another table that belong to this one; the value is a list of objects of its columns. */
  readonly children?: Children
}

/** Rows of a table that belong to a row of another. */
export interface Children {
  readonly table: string
  /** Its columns that hold the key of the row, in the order of the key; none where all rows belong to the only row. */
  readonly by: readonly string[]
  /** Its own columns with their types; 64-bit integers are text in JSON. */
  readonly columns: Readonly<Record<string, string>>
  /** The column that identifies a child row of one parent, where `columns` are not all columns of the table. */
  readonly unique?: string
}

/** Where a row may be on the chain. */
export interface Place {
  readonly scope: string
  /** Primary key, an unsigned 64-bit integer. */
  readonly primary: bigint
}

/** A table of the database that holds what a contract table holds: all that the comparison needs to know. */
export interface VerifiedTable {
  /** Name of the table that holds its rows, with schema. */
  readonly name: string
  /** What reports call it, where several contract tables share a table; else its name. */
  readonly label?: string
  readonly family: Family
  /** Table of the contract. */
  readonly contractTable: string
  readonly key: readonly KeyColumn[]
  readonly columns: readonly Column[]
  /** FROM item, with alias t. */
  readonly from: string
  /** Which rows of it the chain still holds. */
  readonly where?: string
  /** The column that names a collection, where rows belong to one. */
  readonly collection?: string
  /** Whether each scope of the contract table is a collection. */
  readonly scopedByCollection: boolean
  /** What the database shall hold of a row of the chain. */
  readonly expect: (row: ChainRow, formats: Formats) => ComparedRow
  /** Where the row of a key is on the chain; `values` are those of either side. `contract` is the contract's account. */
  readonly locate: (key: readonly string[], values: RowValues, contract: string) => Place
  /** The name of the rows that `where` leaves out, where these are rows that ended on the chain. */
  readonly ended?: string
  /** Columns that are null while the chain has no such row: the other columns are of another row of the chain. */
  readonly clears?: readonly string[]
}

/** Where a row may be on the chain: nowhere, when its values are none that the chain could have. */
export function placesOf(
  table: VerifiedTable,
  { key, values, contract }: Pick<ComparedRow, 'key' | 'values'> & { readonly contract: string },
): Place[] {
  try {
    return [table.locate(key, values, contract)]
  } catch (error) {
    if (error instanceof EncodeError) return []
    throw error
  }
}

/** What reports call a table. */
export function labelOf(table: VerifiedTable): string {
  return table.label ?? table.name
}
