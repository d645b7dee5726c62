export {
  Refusal,
  notReady,
  aboveHead,
  aboveIrreversible,
  insideGap,
  abiNotFound,
  belowHistory,
  invalidRequest,
  nextToGap,
} from './refusal.ts'
export { toJsonText, RawJson } from './json-text.ts'
export { envelope } from './envelope.ts'
