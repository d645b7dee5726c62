export { declareKind, assemblerOf } from './assembler.ts'
export type {
  Contained,
  ContainingRows,
  DeclaredKind,
  KeyedList,
  RecordSettings,
  RowParts,
} from './assembler.ts'
export { wantedTogether, recordKind } from './record-kind.ts'
export type { RecordKind } from './record-kind.ts'
export { cte, readTogether } from './page.ts'
export type { Selection } from './page.ts'
