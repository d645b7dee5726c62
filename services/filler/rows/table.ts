/** A value of a row: what a column of the declared type takes. JSON columns take JSON text. */
export type ColumnValue =
  bigint | number | string | boolean | null | Uint8Array | readonly string[] | readonly bigint[]

/** A row while it is being merged. */
export type MutableRow = Record<string, ColumnValue>

/** Any row: column name to value. */
export type Row = Readonly<Record<string, ColumnValue>>

/** What all kinds of table have in common. `R` is the row's type and exists for the compiler only. */
interface TableBase<R extends object> {
  /** Schema-qualified name. */
  readonly name: string
  /** Columns that identify a row. */
  readonly key: readonly (keyof R & string)[]
  readonly row?: R
}

/** Rows are written and changed one by one; the undo journal records their old images. */
export interface KeyedTable<R extends object> extends TableBase<R> {
  readonly kind: 'keyed'
  /** Columns that an upsert leaves alone when the row exists. */
  readonly preserved: readonly (keyof R & string)[]
}

/** Rows come and go in groups: all rows of a group are replaced at once. `group` is the head of `key`. */
export interface GroupedTable<R extends object> extends TableBase<R> {
  readonly kind: 'grouped'
  readonly group: readonly (keyof R & string)[]
}

/** Numbers that grow and shrink; a row whose numbers are all 0 does not exist. */
export interface CounterTable<R extends object> extends TableBase<R> {
  readonly kind: 'counter'
  readonly counts: readonly (keyof R & string)[]
}

/** Rows are only ever added, in ascending order of a global sequence; undone by cutting off the end. */
export interface AppendTable<R extends object> extends TableBase<R> {
  readonly kind: 'append'
}

/** Facts that hold from a block on, with the name of a reader in the column `reader`; undone by block number. */
export interface VersionedTable<R extends object> extends TableBase<R> {
  readonly kind: 'versioned'
  /** Column with the block number. */
  readonly version: keyof R & string
  /** Whether a later row with the same key replaces the first. */
  readonly replaces: boolean
  /**
   * Whether the readers of a database share the rows. Each belongs to the reader that wrote it last, until it is irreversible
   * to that one; a row that its reader undoes or deletes passes to another reader that has the same block.
   */
  readonly shared: boolean
}

/** Rows with their history. Current ones are in the table, with the block that wrote them in `since_block`; ended ones are in `past`, also with the block that ended them in `until_block`. Rolled back by block number.
 */
export interface HistoryTable<R extends object> extends TableBase<R> {
  readonly kind: 'history'
  /** Schema-qualified name of the history table. */
  readonly past: string
}

/** Any table that the store writes. */
export type Table<R extends object = object> =
  KeyedTable<R> | GroupedTable<R> | CounterTable<R> | AppendTable<R> | VersionedTable<R> | HistoryTable<R>

/** Declares a keyed table. */
export function keyedTable<R extends object>(
  name: string,
  key: readonly (keyof R & string)[],
  preserved: readonly (keyof R & string)[] = [],
): KeyedTable<R> {
  return { kind: 'keyed', name, key, preserved }
}

/** Declares a grouped table. */
export function groupedTable<R extends object>(
  name: string,
  group: readonly (keyof R & string)[],
  key: readonly (keyof R & string)[],
): GroupedTable<R> {
  return { kind: 'grouped', name, group, key }
}

/** Declares a counter table. */
export function counterTable<R extends object>(
  name: string,
  key: readonly (keyof R & string)[],
  counts: readonly (keyof R & string)[],
): CounterTable<R> {
  return { kind: 'counter', name, key, counts }
}

/** Declares an append-only table; `sequence` is its global-sequence column. */
export function appendTable<R extends object>(name: string, sequence: keyof R & string): AppendTable<R> {
  return { kind: 'append', name, key: [sequence] }
}

/** Declares a versioned table. */
export function versionedTable<R extends object>(
  name: string,
  key: readonly (keyof R & string)[],
  version: keyof R & string,
  replaces: boolean,
): VersionedTable<R> {
  return { kind: 'versioned', name, key, version, replaces, shared: false }
}

/** Declares a versioned table that the readers of a database share. */
export function sharedTable<R extends object>(
  name: string,
  key: readonly (keyof R & string)[],
  version: keyof R & string,
  replaces: boolean,
): VersionedTable<R> {
  return { ...versionedTable(name, key, version, replaces), shared: true }
}

/** Declares a table with history. */
export function historyTable<R extends { since_block: number }>(
  name: string,
  past: string,
  key: readonly (keyof R & string)[],
): HistoryTable<R> {
  return { kind: 'history', name, past, key }
}

/** Columns by which the undo journal restores a table: the group of a grouped one, else the key. */
export function identityOf(table: Table): readonly string[] {
  return table.kind === 'grouped' ? table.group : table.key
}

/** The tables of a declaration object as a list whose row types no longer matter. */
export function listTables(declared: Readonly<Record<string, { readonly name: string }>>): Table[] {
  return Object.values(declared) as unknown as Table[]
}
