import { EncodeError } from '../../core/bytes/index.ts'
import type { ContractRow, Family, Formats } from '../../core/model/contract/index.ts'

/** A row of a contract table, decoded. */
export type ChainRow = Pick<ContractRow, 'scope' | 'data'>

/** Values of a row by column, in JSON: 64-bit integers as decimal text. */
export type RowValues = Readonly<Record<string, unknown>>

/** A chain row or a database row, in the form in which both are compared. */
export interface ComparedRow {
  /** Values of the key columns as text. */
  readonly key: readonly string[]
  readonly values: RowValues
}

export interface KeyColumn {
  readonly name: string
  readonly type: string
}

/** A column of a database table that `verify` compares with the chain. */
export interface Column {
  readonly name: string
  /** SQL that returns the value in a form that JSON stores exactly. Default: the column itself. */
  readonly sql?: string
  /**
   * SQL condition under which the database value is unknown, such as a RAM payer after an import. An unknown value is
   * not compared.
   */
  readonly unknown?: string
  /** SQL type for repairs; undefined: a repair cannot write the column. */
  readonly type?: string
  /** SQL that a repair writes, with `$` for the value, such as `decode($, 'hex')`; default: the value. */
  readonly write?: string
  /** Character that may stand for bytes that are not UTF-8: a repair cannot write a chain value that contains it. */
  readonly unsure?: string
  /** Rows of a child table that are compared as this column: a list with an object for each child row. */
  readonly children?: Children
}

/** Rows of a child table that belong to a row of another table. */
export interface Children {
  readonly table: string
  /** Columns of the child table with the key of the parent row; empty if the parent table has only one row. */
  readonly by: readonly string[]
  /** Compared columns of the child table with their types; 64-bit integers are text in JSON. */
  readonly columns: Readonly<Record<string, string>>
  /**
   * Column that identifies a child row among the child rows of one parent. Set if `columns` does not list every column
   * of the child table.
   */
  readonly unique?: string
}

/** Scope and primary key of a row on the chain. */
export interface Place {
  readonly scope: string
  /** Primary key, an unsigned 64-bit integer. */
  readonly primary: bigint
}

/** A database table with the rows of a contract table, described for the comparison. */
export interface VerifiedTable {
  /** Database table, with schema. */
  readonly name: string
  /** Name in reports, if several contract tables share a database table; default: the table's name. */
  readonly label?: string
  readonly family: Family
  readonly contractTable: string
  readonly key: readonly KeyColumn[]
  readonly columns: readonly Column[]
  /** SQL FROM item of the rows to compare, with alias t. */
  readonly from: string
  /** Condition of the rows that still exist on the chain. */
  readonly where?: string
  /** Column with the collection of the row; undefined if the rows belong to no collection. */
  readonly collection?: string
  /** Whether each scope of the contract table is a collection. */
  readonly scopedByCollection: boolean
  /** The database row expected for a chain row. */
  readonly expect: (row: ChainRow, formats: Formats) => ComparedRow
  /**
   * Returns the scope and primary key that a row has on the chain.
   * @param values values of the row on the chain or in the database.
   * @param contract account of the contract.
   */
  readonly locate: (key: readonly string[], values: RowValues, contract: string) => Place
  /**
   * Name, in reports, of the rows that have ended on the chain, such as `burned assets`. `where` excludes these rows.
   */
  readonly ended?: string
  /** Columns that are null if this contract table lacks the row; another contract table sets the other columns. */
  readonly clears?: readonly string[]
}

/** The scope and primary key that a row has on the chain; empty if no chain row can have the row's key and values. */
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

/** Name of a table in reports. */
export function labelOf(table: VerifiedTable): string {
  return table.label ?? table.name
}
