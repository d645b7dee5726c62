export { prepareDatabase } from './prepare.ts'
export type { PrepareOptions } from './prepare.ts'
export { scramVerifier } from './roles.ts'
