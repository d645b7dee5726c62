export { observeDatabase, observeLists, observeRequests } from './api-metrics.ts'
export { observeLive, watchFeeds } from './live-metrics.ts'
export { watchParts } from './watched.ts'
export type { WatchedParts } from './watched.ts'
