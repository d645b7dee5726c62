export { readPageKeys, ListReader } from './list.ts'
export type { PageResult, PageStatement, List, ChoosePath, ReadPage } from './list.ts'
export { Statistics } from './statistics.ts'
export { findingCost, choosePath } from './choose.ts'
