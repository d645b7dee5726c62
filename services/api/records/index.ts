export { declareKind, assemblerOf } from './assembler.ts'
export type {
  Contained,
  ContainingRows,
  DeclaredKind,
  KeyedList,
  RecordSettings,
  RowParts,
} from './assembler.ts'
export { wantedTogether, recordKind, cte, readTogether } from './page.ts'
export type { RecordKind, Selection } from './page.ts'
