export {
  estimateRows,
  withoutImplied,
  haveOnePlan,
  isImpossible,
  conditionAmong,
  foundConditions,
  isOneValue,
  BITMAP_COST,
  HEAP_COST,
  NEVER,
  nothing,
} from './filter.ts'
export type { EqualValues, Filter, FilterPart, Through } from './filter.ts'
