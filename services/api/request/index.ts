export {
  attributeFilterLimits,
  familyOf,
  isAttributeFilter,
  readAttributeFilters,
} from './attribute-filters.ts'
export type { AttributeFilter, AttributeFamily } from './attribute-filters.ts'
export {
  MAX_PAIRS,
  parameterLimits,
  ParameterCollector,
  parseQueryString,
  readRequest,
} from './raw-parameters.ts'
export type { RawValue, RawParameters, RawScalar } from './raw-parameters.ts'
export { invalidParameter } from './request-error.ts'
export { answerTooLarge } from './answer-size.ts'
