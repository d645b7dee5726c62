export { readPageKeys, ListReader } from './list.ts'
export type { PageResult, PagePlan, List, ChoosePath } from './list.ts'
export { Statistics } from './statistics.ts'
export { findingCost, choosePath } from './choose.ts'
