export { refuseUnfinishedImport } from './unfinished-import.ts'
export type { UnfinishedImport } from './unfinished-import.ts'
