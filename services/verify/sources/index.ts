export type { ChainSource } from './source.ts'
export { FolderSource } from './folder-source.ts'
export { HttpSource } from './http-source.ts'
export { StateSource } from './state-source.ts'
