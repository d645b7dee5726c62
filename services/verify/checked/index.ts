export { isWhole, readCoverage, reportCoverage } from './coverage.ts'
export type { Coverage, CoverageReport } from './coverage.ts'
export { notChecked } from './not-checked.ts'
