export { counting, paging, sorting, sortOrder } from './parameters.ts'
export type { PageValues, CountValues, OrderValues } from './parameters.ts'
export { pageWindow, directionOf } from './paging.ts'
export { pageLimits } from './paging.ts'
