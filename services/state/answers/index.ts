export { envelope } from './envelope.ts'
export { RawJson, toJsonText } from './json-text.ts'
export {
  abiNotFound,
  aboveHead,
  aboveIrreversible,
  belowHistory,
  insideGap,
  invalidRequest,
  nextToGap,
  notReady,
  Refusal,
} from './refusal.ts'
export type { RefusalDetails } from './refusal.ts'
