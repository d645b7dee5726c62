export { startListPolls } from './polls.ts'
export type { ListPollOptions, ListPollResult, ListPolls } from './polls.ts'
export type { ListLimits } from './read-lists.ts'

export type { ListSettings, ListSource } from './source.ts'
