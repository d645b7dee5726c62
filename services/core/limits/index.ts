export { bytesText, countText, secondsText } from './limit.ts'
export type { Limit } from './limit.ts'
export { listLimits, MAX_GIVEN_ITEMS, MAX_LIST_ITEMS, MAX_NAMED_LISTS } from './list-limits.ts'
