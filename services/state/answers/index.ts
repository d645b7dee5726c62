export {
  answerTooLarge,
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
export { LateRows, writeAnswer } from './late-rows.ts'
export { envelope } from './envelope.ts'
