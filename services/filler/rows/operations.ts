import type {
  AppendTable,
  CounterTable,
  GroupedTable,
  HistoryTable,
  KeyedTable,
  VersionedTable,
} from '../../core/model/index.ts'

export type KeyOf<R extends object> = Partial<R>

/**
 * Receives the row changes of handlers. A sink does not execute statements: it merges operations on one row. The commit
 * of the unit writes the merged rows in sets. A row object passed to the sink belongs to the sink.
 */
export interface RowSink {
  /** Adds a row whose key cannot exist yet. */
  insert<R extends object>(table: KeyedTable<R>, row: NoInfer<R>): void
  /** Adds a row, or replaces all columns of an existing row except the table's `preserved` columns. */
  upsert<R extends object>(table: KeyedTable<R> | VersionedTable<R>, row: NoInfer<R>): void
  /** Changes some columns of a row; does nothing if the row does not exist. */
  patch<R extends object>(table: KeyedTable<R>, key: KeyOf<R>, changes: Partial<NoInfer<R>>): void
  /** Removes a row if it exists. */
  remove<R extends object>(table: KeyedTable<R>, key: KeyOf<R>): void
  /** Replaces all rows of a group in a grouped table; `rows` may be empty. */
  replaceGroup<R extends object>(table: GroupedTable<R>, group: KeyOf<R>, rows: readonly NoInfer<R>[]): void
  /** Adds the increments, which may be negative, to the counts of a row. */
  add<R extends object>(table: CounterTable<R>, increments: NoInfer<R>): void
  /** Adds a row to an append-only table. */
  append<R extends object>(table: AppendTable<R>, row: NoInfer<R>): void
  /** Adds a new version of a row in a table with history, valid from its `since_block` on. */
  version<R extends { since_block: number }>(table: HistoryTable<R>, row: NoInfer<R>): void
  /** Ends the current version of a row in a table with history: the version is no longer valid in `block`. */
  end<R extends { since_block: number }>(table: HistoryTable<R>, key: KeyOf<R>, block: number): void
  /**
   * Prunes old rows: versions of a table with history that ended at or before block `before`, rows of a versioned table
   * below block `before`. Rows that a fork may restore are not pruned.
   */
  forget<R extends object>(table: HistoryTable<R> | VersionedTable<R>, before: number): void
  /** Requests a recomputation of a derived value once the unit's rows are written. */
  recheck(derivation: Derivation, key: DerivedKey): void
}

/** Key of a derived value to recompute. */
export type DerivedKey = bigint | string

/** Chain time at the beginning and end of a commit unit, epoch milliseconds. */
export interface UnitClock {
  /** Time of the unit's last block. */
  readonly nowMs: number
  /** Time of the last block before the unit; 0 if nothing was committed before. */
  readonly beforeMs: number
}

/**
 * Row changes that trigger a derivation: if a unit changes one of `columns` in a row, the row's `key` column is passed
 * to the derivation. Rows that the unit adds trigger no derivation; the operation that adds a row requests the
 * derivations of the row.
 */
export interface Source {
  /** Schema-qualified name of the table. */
  readonly table: string
  readonly columns: readonly string[]
  readonly key: string
}

/**
 * A value that only a query can compute once the rows of a commit unit are written, such as which open offers have
 * become invalid. Runs inside the unit's transaction. The changes of a derivation are recorded for rollback like every
 * other change. The result must depend only on the rows and the unit's last block time, never on how blocks were
 * grouped.
 */
export interface Derivation<Row extends object = object> {
  readonly kind: 'derivation'
  readonly name: string
  /**
   * Content of `$1`. `bigint` or `text`: an array of keys; the statement runs only if there are keys. `none`: the
   * statement runs with every unit, with `nowMs` as `$1` and `beforeMs` as `$2`.
   */
  readonly keys: 'bigint' | 'text' | 'none'
  /** True if a statement with keys also gets `nowMs` as `$2`. */
  readonly clock?: boolean
  readonly sources: readonly Source[]
  /** SQL that returns the outdated rows, or the input from which `apply` updates them. */
  readonly statement: string
  /** Converts the rows that `statement` returns to row operations, which may trigger later derivations. */
  apply(rows: readonly Row[], sink: RowSink): void
}

/**
 * Sums over the rows of a table, maintained incrementally. `apply` gets each changed row as of before the unit (null if
 * the row did not exist) and as of after the unit, subtracts the old contribution and adds the new contribution. 64-bit
 * integers arrive as bigint, `numeric` as text.
 */
export interface Aggregate<R extends object = object> {
  readonly kind: 'aggregate'
  readonly name: string
  /** Table whose rows are summed; a keyed table. */
  readonly table: { readonly name: string }
  /** Columns that `apply` reads, other than the key columns. */
  readonly columns: readonly string[]
  apply(before: R | null, after: R | null, sink: RowSink, clock: UnitClock): void
}

/**
 * Fills in columns of rows that a unit adds, from other tables, before the rows are written. The other tables already
 * contain the unit's rows.
 */
export interface Completion<R extends object = object, Fact extends object = object> {
  readonly kind: 'completion'
  readonly name: string
  /** Table whose rows are completed; a keyed table. */
  readonly table: { readonly name: string }
  /** Keys that are passed to the statement as `$1` (bigint[]). */
  keysOf(row: R): readonly bigint[]
  /** SQL that returns the values that complete a row; the column `key` contains the key to which the values belong. */
  readonly statement: string
  complete(row: R, facts: ReadonlyMap<bigint, Fact>): void
}

/** One derivation step of a handler. Derivations and aggregates run in the order of their list. */
export type DerivedStep = Derivation | Aggregate | Completion
