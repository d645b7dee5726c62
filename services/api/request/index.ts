export {
  attributeFilterLimits,
  familyOf,
  readAttributeFilters,
  MAX_PAIRS,
  parameterLimits,
  ParameterCollector,
  parseQueryString,
  readRequest,
} from './parameters.ts'
export type { AttributeFilter, AttributeFamily, RawValue, RawParameters, RawScalar } from './parameters.ts'
export { invalidParameter } from './request-error.ts'
export { answerTooLarge } from './answer-size.ts'
