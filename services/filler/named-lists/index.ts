export { startListPolls } from './polls.ts'
export type { ListPollResult } from './polls.ts'
