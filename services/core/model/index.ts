export type { Column, ColumnValue, JsonText, Origin } from './column.ts'
export { identityOf, listTables } from './table.ts'
export type {
  AppendTable,
  CounterTable,
  GroupedTable,
  HistoryTable,
  KeyedTable,
  MutableRow,
  RowOf,
  Table,
  VersionedTable,
} from './table.ts'
