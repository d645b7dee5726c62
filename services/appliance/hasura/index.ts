export { applyMetadata } from './apply.ts'
export type { ApplyOptions } from './apply.ts'
export { assembleMetadata, compareHasura, generateHasura } from './files.ts'
