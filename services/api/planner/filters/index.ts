export {
  estimateRows,
  withoutImplied,
  haveOnePlan,
  isImpossible,
  conditionAmong,
  foundConditions,
  asFound,
  isWithin,
  isOneValue,
  NEVER,
  nothing,
} from './filter.ts'
export type { EqualValues, Filter, FilterPart, Through } from './filter.ts'
