export { clientKeyOf, createAddressSet, normalizeAddress } from './addresses.ts'
export { createApplication } from './application.ts'
export { createClientFinder, createClients } from './clients.ts'
export type { Client, ClientSettings, KnownClient, TrustedProxies } from './clients.ts'
export {
  compress,
  COMPRESSION_THRESHOLD_BYTES,
  createCompressionStep,
  negotiateEncoding,
} from './compression.ts'
export type { Encoding } from './compression.ts'
export { createCorsStep } from './cors.ts'
export { createFailureStep } from './failures.ts'
export type { Failure } from './failures.ts'
export { listen } from './listener.ts'
export type { Listener, ListenerOptions, ListenerTiming } from './listener.ts'
export { notesOf } from './notes.ts'
export type { CacheOutcome, RequestNotes } from './notes.ts'
export { createObserverStep } from './observer.ts'
export type { RequestFacts, RequestObserver } from './observer.ts'
export { createRateLimitStep } from './rate-limit.ts'
export type { RateLimitParts, RateLimitSettings } from './rate-limit.ts'
export { hasBody, mediaTypeOf, readBodyText } from './read-body.ts'
export { createRequestCounter } from './request-counter.ts'
export type { RequestCounter } from './request-counter.ts'
export { RequestError } from './request-error.ts'
export { JSON_TYPE, sendJson } from './send.ts'
export { answerIfKnown, weakTag } from './validators.ts'
