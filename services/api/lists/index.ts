export { choosePath, findingCost } from './choose.ts'
export type { AccessPath, ListRequest } from './choose.ts'
export { estimateRows, foundConditions, haveOnePlan, isImpossible, NEVER, nothing } from './filter.ts'
export type { EqualValues, Filter, FilterPart, Through } from './filter.ts'
export { ListReader } from './list.ts'
export type { ChoosePath, List, PageResult, PageStatement, ReadPage } from './list.ts'
export type { Branch, Driven, Index, Order, PageWindow, Source } from './source.ts'

export { Statistics } from './statistics.ts'
