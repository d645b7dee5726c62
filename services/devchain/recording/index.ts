export { finalBranch } from './branch.ts'
export { Playback } from './playback.ts'
export { readRecording } from './read.ts'
export type { RecordedMessage, Recording } from './read.ts'
