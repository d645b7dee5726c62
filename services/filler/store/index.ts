export { CommitUnit } from './commit-unit.ts'
export type { UnitBlock } from './commit-unit.ts'
export { checkLease, takeLease } from './lease.ts'
export type { Lease } from './lease.ts'
export type {
  Aggregate,
  Completion,
  Derivation,
  DerivedKey,
  DerivedStep,
  KeyOf,
  RowSink,
  Source,
  UnitClock,
} from './operations.ts'
export { copyLine, joinLines } from './copy.ts'
export { asStoreError, openStore } from './store.ts'
export type { FinalStatements, Statements, Store, StoreOptions } from './store.ts'
export {
  appendTable,
  counterTable,
  groupedTable,
  historyTable,
  keyedTable,
  listTables,
  sharedTable,
  versionedTable,
} from './table.ts'
export type {
  AppendTable,
  CounterTable,
  GroupedTable,
  HistoryTable,
  KeyedTable,
  Table,
  VersionedTable,
} from './table.ts'
