export { chainAnswers } from './answers.ts'
export type { Answer } from './answers.ts'
export { startChainApi } from './server.ts'
export type { ChainApi } from './server.ts'
