export { benchBlocks, denseMarketMix, denseMix, denseRate } from './blocks.ts'
export type { BenchKind, BenchStart } from './blocks.ts'
