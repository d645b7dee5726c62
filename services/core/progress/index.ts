export { TimeLeft } from './time-left.ts'
export { listStopBlocks } from './stop-blocks.ts'
