export { shape } from './endpoint/index.ts'
export type { Endpoint, Namespace } from './endpoint/index.ts'
export { createNamespace } from './namespaces/index.ts'
export type { DatabaseTraits, NamespaceFactory } from './namespaces/index.ts'
export type { ApiConfig } from './preconditions.ts'
export { startApi } from './start.ts'
export type { ApiOptions, RunningApi } from './start.ts'
export {
  errorCodes as liveErrorCodes,
  eventSchemas as liveEventSchemas,
  filterMeanings as liveFilters,
  noticeSchemas as liveNoticeSchemas,
} from './live/index.ts'
export { runApi } from './workers/index.ts'
export type { RunApiOptions } from './workers/index.ts'
