export { asStoreError, openStore } from './store.ts'
export type { FinalStatements, Statements, Store } from './store.ts'
export {
  listTables,
  sharedTable,
  appendTable,
  counterTable,
  groupedTable,
  keyedTable,
  historyTable,
  versionedTable,
} from './table.ts'
export type { AppendTable, Table, KeyedTable } from './table.ts'
export type {
  RowSink,
  DerivedStep,
  Aggregate,
  Completion,
  Derivation,
  KeyOf,
  UnitClock,
} from './operations.ts'
export { CommitUnit } from './commit-unit.ts'
export type { UnitBlock } from './commit-unit.ts'
export { copyLine, joinLines } from './copy.ts'
export { checkLease, takeLease } from './lease.ts'
export type { Lease } from './lease.ts'
