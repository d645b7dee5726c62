export { benchBlocks, denseMarketMix, denseMix, denseRate } from './blocks.ts'
