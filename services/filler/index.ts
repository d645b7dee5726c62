export { runReader } from './pipeline/index.ts'
export type { ReaderOptions, ReaderStatus, ReaderSettings } from './pipeline/index.ts'
export { startFillerHealth } from './health.ts'
export { compileProtocol } from './decode/index.ts'
export type { ContractEntry } from './handlers/index.ts'
export { createShipSession } from './ship/index.ts'
export type { ShipSession, ShipConsumer } from './ship/index.ts'
export { importDatabase, importState, parseSourceAddress, planImport } from './import/index.ts'
export type {
  Difference,
  ImportDatabaseOptions,
  ImportPlan,
  ImportReport,
  ImportStateOptions,
  ImportStateReport,
} from './import/index.ts'
export { createPublisher } from './feed/index.ts'
export { runFiller } from './filler.ts'
export { checkLease, takeLease } from './store/index.ts'
export type { Lease } from './store/index.ts'
