export {
  estimateRows,
  withoutImplied,
  haveOnePlan,
  isImpossible,
  conditionAmong,
  foundConditions,
  isOneValue,
  NEVER,
  nothing,
} from './filter.ts'
export type { EqualValues, Filter, FilterPart, Through } from './filter.ts'
