export { replayHistory } from './replay-history.ts'
export type { ReplayedHistory, ReplayHistoryOptions } from './replay-history.ts'
export type { BlockRange } from './block-replay.ts'
export type { HistoryDifference, KindCounts } from './difference.ts'
