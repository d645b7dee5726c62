export { runFiller } from './filler.ts'
export type { FillerOptions } from './filler.ts'
export { runReader } from './pipeline/index.ts'
export type { ReaderOptions, ReaderSettings, ReaderStatus } from './pipeline/index.ts'
