/** A row of a contract table, decoded. */
export interface ChainRow {
  readonly scope: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A contract family, as in chain.sources. */
export type Family = 'assets' | 'market' | 'oracle' | 'tools'

/** A field of a format list. */
export interface FormatField {
  readonly name: string
  readonly type: string
}

/** What rows need of other rows of the chain. */
export interface RowContext {
  /** Fields of collection data. */
  readonly collectionFormat: readonly FormatField[]
  /** Fields of a schema; none when the chain has no such schema. */
  readonly formatOf: (collection: string, schema: string) => readonly FormatField[]
}

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
  readonly type: 'bigint' | 'integer' | 'text'
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
  /** SQL that a repair writes instead of the value, with `$` for it, such as `nullif($, '')`. */
  readonly write?: string
  /** The column that a repair writes, where the value is computed from one of another name. */
  readonly into?: string
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
  /** What repairs fill with the block at which they write: column to what. */
  readonly stamps?: Readonly<Record<string, 'time' | 'block'>>
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
  readonly scopedByCollection?: true
  /** What the database shall hold of a row of the chain. */
  readonly expect: (row: ChainRow, context: RowContext) => ComparedRow
  /** Where the row of a key is on the chain; `values` are those of either side. `contract` is the contract's account. */
  readonly locate: (key: readonly string[], values: RowValues, contract: string) => Place
  /** How a row that the database lacks is added; without it, it cannot be. */
  readonly insert?: Readonly<Record<string, 'time' | 'block' | `sql:${string}`>>
  /** Assignments that reopen a row which the database has as ended. Without them such a row cannot conflict. */
  readonly reopen?: readonly string[]
  /** What follows from the row and from others, after a repair wrote it: SQL with alias t, after it the condition. */
  readonly complete?: string
  /** How a row that the chain does not have is removed: SQL with alias t, after it the condition; without it, it cannot be. */
  readonly remove?: string
}

/** What reports call a table. */
export function labelOf(table: VerifiedTable): string {
  return table.label ?? table.name
}
