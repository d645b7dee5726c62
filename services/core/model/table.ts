import type { ColumnValue, Columns, RowOfColumns } from './column.ts'

export type MutableRow = Record<string, ColumnValue>

/** A row of any table: maps each column name to the value. */
export type Row = Readonly<Record<string, ColumnValue>>

/** Members of every table description. `R` is the row's type and exists for the compiler only. */
interface TableBase<R extends object> {
  /** Name of the table with its schema, such as `assets.assets`. */
  readonly name: string
  /** Columns that identify a row. */
  readonly key: readonly (keyof R & string)[]
  readonly columns: Columns
  readonly row?: R
}

/** Type of the rows of a described table. */
export type RowOf<Described> = Described extends { readonly row?: infer R extends object } ? R : never

type Names<Described extends Columns> = readonly (keyof Described & string)[]

/** Table whose rows are written and changed one by one; the undo journal stores their earlier versions. */
export interface KeyedTable<R extends object> extends TableBase<R> {
  readonly kind: 'keyed'
  /** Columns that an upsert does not overwrite if the row exists. */
  readonly preserved: readonly (keyof R & string)[]
}

/** Table whose rows are replaced in groups: a write replaces all rows of a group. `group` is a prefix of `key`. */
export interface GroupedTable<R extends object> extends TableBase<R> {
  readonly kind: 'grouped'
  readonly group: readonly (keyof R & string)[]
}

/** A table of counters. A row is deleted when all its counters are 0. */
export interface CounterTable<R extends object> extends TableBase<R> {
  readonly kind: 'counter'
  readonly counts: readonly (keyof R & string)[]
}

/** Table whose rows are only added, in ascending order of a global sequence. A rollback deletes the last rows. */
export interface AppendTable<R extends object> extends TableBase<R> {
  readonly kind: 'append'
}

/**
 * Table of facts that are valid from a block on. The column `reader` names the reader; a rollback selects rows by block
 * number.
 */
export interface VersionedTable<R extends object> extends TableBase<R> {
  readonly kind: 'versioned'
  /** Column with the block number. */
  readonly version: keyof R & string
  /** Whether a later row with the same key replaces the earlier row. */
  readonly replaces: boolean
  /**
   * Whether the readers of a database share the rows. A row belongs to the last reader that wrote the row, until the
   * block of that write is irreversible for this reader. If the owner undoes or deletes a row, the row passes to
   * another reader that has the same block.
   */
  readonly shared: boolean
}

/**
 * Rows with their history. Current rows are in the table; `since_block` is the block that wrote the row. Ended rows are
 * in `past`; `until_block` is the block that ended the row. A rollback selects rows by these block numbers.
 */
export interface HistoryTable<R extends object> extends TableBase<R> {
  readonly kind: 'history'
  /** Schema-qualified name of the history table. */
  readonly past: string
}

/** Any table that the store writes. */
export type Table<R extends object = object> =
  KeyedTable<R> | GroupedTable<R> | CounterTable<R> | AppendTable<R> | VersionedTable<R> | HistoryTable<R>

/** Declares a {@link KeyedTable}. */
export function keyedTable<C extends Columns>(
  name: string,
  key: Names<C>,
  columns: C,
  preserved: Names<C> = [],
): KeyedTable<RowOfColumns<C>> {
  return { kind: 'keyed', name, key, columns, preserved }
}

/** Declares a {@link GroupedTable}. */
export function groupedTable<C extends Columns>(
  name: string,
  group: Names<C>,
  key: Names<C>,
  columns: C,
): GroupedTable<RowOfColumns<C>> {
  return { kind: 'grouped', name, group, key, columns }
}

/** Declares a counter table: all columns outside the key are counters. */
export function counterTable<C extends Columns>(
  name: string,
  key: Names<C>,
  columns: C,
): CounterTable<RowOfColumns<C>> {
  return {
    kind: 'counter',
    name,
    key,
    columns,
    counts: Object.keys(columns).filter((column) => !key.includes(column)),
  }
}

/** Declares an append-only table; `sequence` is its global-sequence column. */
export function appendTable<C extends Columns>(
  name: string,
  sequence: keyof C & string,
  columns: C,
): AppendTable<RowOfColumns<C>> {
  return { kind: 'append', name, key: [sequence], columns }
}

/** Column with the block number of a row, and whether a later row with the same key replaces the row. */
type Versioning<C extends Columns> = Pick<VersionedTable<RowOfColumns<C>>, 'version' | 'replaces'>

/** Declares a {@link VersionedTable} whose rows belong to one reader each. */
export function versionedTable<C extends Columns>(
  name: string,
  key: Names<C>,
  versioning: Versioning<C>,
  columns: C,
): VersionedTable<RowOfColumns<C>> {
  return { kind: 'versioned', name, key, columns, ...versioning, shared: false }
}

/** Declares a versioned table that the readers of a database share. */
export function sharedTable<C extends Columns>(
  name: string,
  key: Names<C>,
  versioning: Versioning<C>,
  columns: C,
): VersionedTable<RowOfColumns<C>> {
  return { ...versionedTable(name, key, versioning, columns), shared: true }
}

/** Declares a {@link HistoryTable}. */
export function historyTable<C extends Columns>(
  name: string,
  past: string,
  key: Names<C>,
  columns: C,
): HistoryTable<RowOfColumns<C>> {
  return { kind: 'history', name, past, key, columns }
}

/** Columns that select the rows which the undo journal restores: `group` of a {@link GroupedTable}, else the key. */
export function identityOf(table: Table): readonly string[] {
  return table.kind === 'grouped' ? table.group : table.key
}

/** Returns the declared tables as a list, without their row types. */
export function listTables(declared: Readonly<Record<string, { readonly name: string }>>): Table[] {
  return Object.values(declared) as unknown as Table[]
}
