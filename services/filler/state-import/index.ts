export { importState } from './import-state.ts'
export type { ImportStateOptions, ImportStateReport } from './import-state.ts'
