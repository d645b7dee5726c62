import { errorCodes, eventSchemas, filterMeanings, noticeSchemas } from './live/index.ts'
export { apiLimits } from './limits.ts'
export { shape } from './endpoint/index.ts'
export { startApi } from './start.ts'
export type { RunningApi } from './start.ts'
export { createNamespace } from './namespaces/index.ts'
export type { NamespaceFactory } from './namespaces/index.ts'
export type { Endpoint, Namespace } from './endpoint/index.ts'
export type { Session } from './database/index.ts'
export type { Statement } from './sql/index.ts'
export { readAttributeFilters, readRequest } from './request/index.ts'
export { jsonString } from './json/index.ts'
export { runApi } from './workers/run-api.ts'

/** Message types of live connections, for the documentation and for tests. */
export const liveMessages = { errorCodes, eventSchemas, filterMeanings, noticeSchemas }
