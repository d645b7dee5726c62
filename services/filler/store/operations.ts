import type { Derivation, DerivedKey } from './derived.ts'
import type {
  AppendTable,
  CounterTable,
  GroupedTable,
  HistoryTable,
  KeyedTable,
  VersionedTable,
} from './table.ts'

/** The part of a row that tells which row is meant. */
export type KeyOf<R extends object> = Partial<R>

/**
 * Where handlers put what a block changes. Nothing is executed here: operations on one row are merged and written
 * set-wise when the commit unit is full. Row objects belong to the sink once given.
 */
export interface RowSink {
  /** Adds a row that cannot exist yet. */
  insert<R extends object>(table: KeyedTable<R>, row: R): void
  /** Adds a row, or replaces it except for the table's `keep` columns. */
  upsert<R extends object>(table: KeyedTable<R> | VersionedTable<R>, row: R): void
  /** Changes some columns of a row; a row that does not exist stays so. */
  patch<R extends object>(table: KeyedTable<R>, key: KeyOf<R>, changes: Partial<R>): void
  /** Removes a row if it exists. */
  remove<R extends object>(table: KeyedTable<R>, key: KeyOf<R>): void
  /** Replaces all rows of a group; `rows` may be empty. */
  replaceGroup<R extends object>(table: GroupedTable<R>, group: KeyOf<R>, rows: readonly R[]): void
  /** Adds to (or takes from) the counts of a row. */
  add<R extends object>(table: CounterTable<R>, increments: R): void
  /** Adds a row at the end. */
  append<R extends object>(table: AppendTable<R>, row: R): void
  /** Gives a row of a table with history the values that it has from its `since_block` on. */
  version<R extends { since_block: number }>(table: HistoryTable<R>, row: R): void
  /** Ends a row of a table with history: it does not hold in this block any more. */
  end<R extends { since_block: number }>(table: HistoryTable<R>, key: KeyOf<R>, block: number): void
  /**
   * Lets old facts go: versions of a table with history that ended at or before a block, rows of a versioned table
   * below it. What a fork may bring back stays.
   */
  forget<R extends object>(table: HistoryTable<R> | VersionedTable<R>, before: number): void
  /** Asks for something derived to be looked at again once the unit's rows are written. */
  recheck(derivation: Derivation, key: DerivedKey): void
}
