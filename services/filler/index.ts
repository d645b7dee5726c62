export { createPublisher } from './feed/index.ts'
export { runFiller } from './filler.ts'
export type { FillerOptions } from './filler.ts'
export { startFillerHealth } from './health.ts'
export { runReader } from './pipeline/index.ts'
export type { ReaderOptions, ReaderSettings, ReaderStatus } from './pipeline/index.ts'
export { importDatabase, parseSourceAddress, planImport } from './import/index.ts'
export type {
  Difference,
  ImportDatabaseOptions,
  ImportPlan,
  ImportProgress,
  ImportReport,
  TableCount,
} from './import/index.ts'
export { checkLease, takeLease } from './store/index.ts'
export type { Lease } from './store/index.ts'
export { importState } from './state-import/index.ts'
export type { ImportStateOptions, ImportStateReport } from './state-import/index.ts'
