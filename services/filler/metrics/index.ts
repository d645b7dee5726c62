export { createFillerMetrics } from './filler-metrics.ts'
export type { FillerMetrics } from './filler-metrics.ts'
export { createReaderMetrics } from './reader-metrics.ts'
export type { ReaderMetrics } from './reader-metrics.ts'
