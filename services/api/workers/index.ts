export { countWorkers, runApi } from './run-api.ts'
export type { RunApiOptions } from './run-api.ts'
