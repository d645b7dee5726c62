export { openDataDirectory } from './data-directory.ts'
export { Progress } from './progress.ts'
export { runStandalone } from './standalone.ts'
export type { StandaloneOptions } from './standalone.ts'
