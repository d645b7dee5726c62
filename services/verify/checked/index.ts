export { isWhole, readCoverage, reportCoverage } from './coverage.ts'
export type { Coverage, CoverageReport } from './coverage.ts'
