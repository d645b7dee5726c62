import type {
  AppendTable,
  CounterTable,
  GroupedTable,
  HistoryTable,
  KeyedTable,
  VersionedTable,
} from '../../core/model/index.ts'

/** The key columns of a row. */
export type KeyOf<R extends object> = Partial<R>

/**
 * Where handlers put what a block changes. Nothing is executed here: operations on one row are merged and written
 * set-wise when the commit unit is full. Row objects belong to the sink once given.
 */
export interface RowSink {
  /** Adds a row that cannot exist yet. */
  insert<R extends object>(table: KeyedTable<R>, row: NoInfer<R>): void
  /** Adds a row, or replaces it except for the table's `preserved` columns. */
  upsert<R extends object>(table: KeyedTable<R> | VersionedTable<R>, row: NoInfer<R>): void
  /** Changes some columns of a row; a row that does not exist stays so. */
  patch<R extends object>(table: KeyedTable<R>, key: KeyOf<R>, changes: Partial<NoInfer<R>>): void
  /** Removes a row if it exists. */
  remove<R extends object>(table: KeyedTable<R>, key: KeyOf<R>): void
  /** Replaces all rows of a group; `rows` may be empty. */
  replaceGroup<R extends object>(table: GroupedTable<R>, group: KeyOf<R>, rows: readonly NoInfer<R>[]): void
  /** Adds to (or takes from) the counts of a row. */
  add<R extends object>(table: CounterTable<R>, increments: NoInfer<R>): void
  /** Adds a row at the end. */
  append<R extends object>(table: AppendTable<R>, row: NoInfer<R>): void
  /** Gives a row of a table with history the values that it has from its `since_block` on. */
  version<R extends { since_block: number }>(table: HistoryTable<R>, row: NoInfer<R>): void
  /** Ends a row of a table with history: it does not hold in this block any more. */
  end<R extends { since_block: number }>(table: HistoryTable<R>, key: KeyOf<R>, block: number): void
  /** Prunes old rows: versions of a table with history that ended at or before a block, rows of a versioned table below it. Rows that a fork may restore stay.
   */
  forget<R extends object>(table: HistoryTable<R> | VersionedTable<R>, before: number): void
  /** Asks for something derived to be looked at again once the unit's rows are written. */
  recheck(derivation: Derivation, key: DerivedKey): void
}

/** Key of something that is to be derived again. */
export type DerivedKey = bigint | string

/** The chain's time around a commit unit, epoch milliseconds. */
export interface UnitClock {
  /** Time of the unit's last block. */
  readonly nowMs: number
  /** Time of the block before the unit's first; 0 before anything was committed. */
  readonly beforeMs: number
}

/** Changes that trigger a derivation: a unit that writes one of `columns` of a row gives the row's `key` column.
 * Rows that the unit adds do not: the operation that adds a row requests its derivations.
 */
export interface Source {
  /** Schema-qualified name. */
  readonly table: string
  readonly columns: readonly string[]
  readonly key: string
}

/** A value that only a query can compute once the rows of a commit unit are written, such as which open offers have
 * become invalid. Runs inside the unit's transaction; what it changes is journaled like any other change. Its result
 * must follow from the rows and the unit's last block time alone, never from how blocks were grouped.
 */
export interface Derivation<Row extends object = object> {
  readonly kind: 'derivation'
  readonly name: string
  /**
   * What `$1` holds: an array of keys (`bigint` or `text`), then the statement runs only when there are keys; or nothing
   * (`none`), then it runs with every unit and gets `nowMs` as `$1` and `beforeMs` as `$2`.
   */
  readonly keys: 'bigint' | 'text' | 'none'
  /** True: a keyed statement gets `nowMs` as `$2`. */
  readonly clock?: boolean
  readonly sources: readonly Source[]
  /** Returns the outdated rows, or the input of `apply` to update them. */
  readonly statement: string
  /** Converts the statement's rows to row operations; may trigger later derivations. */
  apply(rows: readonly Row[], sink: RowSink): void
}

/** Sums over the rows of a table, maintained by differences: `apply` gets a unit's rows before it (null: they did not exist) and after it, subtracts the old contribution and adds the new one. 64-bit integers come as
 * bigint, `numeric` as text.
 */
export interface Aggregate<R extends object = object> {
  readonly kind: 'aggregate'
  readonly name: string
  /** A keyed table. */
  readonly table: { readonly name: string }
  /** Columns of `R` other than the key. */
  readonly columns: readonly string[]
  apply(before: R | null, after: R | null, sink: RowSink, clock: UnitClock): void
}

/**
 * Completes rows that a unit adds to a table with what other tables know, before they are written. Those other tables
 * have the unit's rows already.
 */
export interface Completion<R extends object = object, Fact extends object = object> {
  readonly kind: 'completion'
  readonly name: string
  /** A keyed table. */
  readonly table: { readonly name: string }
  /** Keys for the statement, `$1` (bigint[]). */
  keysOf(row: R): readonly bigint[]
  /** Returns facts with the column `key`. */
  readonly statement: string
  complete(row: R, facts: ReadonlyMap<bigint, Fact>): void
}

/** A part of what a handler derives; derivations and aggregates run in the order of their list. */
export type DerivedStep = Derivation | Aggregate | Completion
