export type { NodeStatus, ReaderStatus } from './heartbeat.ts'
export type { CommitFacts, ReaderObserver, ToldFacts } from './observer.ts'
export { runReader } from './reader.ts'
export type { ReaderOptions, ReaderSettings } from './reader-options.ts'
