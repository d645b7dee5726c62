export { shape } from './endpoint/index.ts'
export { createNamespace } from './namespaces/index.ts'
export type { NamespaceFactory } from './namespaces/index.ts'
export { readAttributeFilters, readRequest } from './endpoint/index.ts'
export type { Endpoint, Namespace } from './endpoint/index.ts'
export {
  errorCodes as liveErrorCodes,
  eventSchemas as liveEventSchemas,
  filterMeanings as liveFilters,
  noticeSchemas as liveNoticeSchemas,
} from './live/index.ts'
export { startApi } from './start.ts'
export type { RunningApi } from './start.ts'
export type { Session, Statement } from './database/index.ts'
export { jsonString } from './json.ts'
export { runApi } from './workers/run-api.ts'
