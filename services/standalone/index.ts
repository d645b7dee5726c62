export { runStandalone } from './standalone.ts'
export type { StandaloneOptions } from './standalone.ts'
