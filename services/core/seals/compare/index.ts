export { compareSnapshot, compareWith } from './compare-seals.ts'
export type { ComparedSeals } from './compare-seals.ts'
export { remoteSource } from './remote-source.ts'
