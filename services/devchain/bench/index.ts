export { benchBlocks, denseMix, denseRate } from './blocks.ts'
export type { BenchKind, BenchStart } from './blocks.ts'
