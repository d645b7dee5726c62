export { errorCatalogue } from './catalogue.ts'
export type { ErrorCode } from './catalogue.ts'
export { PronghornError, RetryableError, FatalError } from './pronghorn-error.ts'
export { describeError } from './describe.ts'
