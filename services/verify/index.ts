export { compareDigests, digestDatabase, listDigestTables } from './digest/index.ts'
export type { DatabaseDigest, DigestOptions, DigestPosition, TableDigest } from './digest/index.ts'
export { openOwnDecoder } from './decode/index.ts'
export type { RowDecoder } from './decode/index.ts'
export { findDerivedViolations, marketRules } from './derived/index.ts'
export type { DerivedRule, DerivedViolations } from './derived/index.ts'
export { describeRepair, planRepairs, repairDatabase, verifyDatabase, verifyWith } from './engine/index.ts'
export type {
  ColumnDifference,
  Difference,
  FoundDifference,
  PlannedRepair,
  Repaired,
  SourceChoice,
  TableReport,
  Verified,
  VerifyDatabaseOptions,
  VerifyOptions,
  VerifyProgress,
  VerifyReport,
} from './engine/index.ts'

export type { ChainSource, Head, HttpSourceOptions } from './sources/index.ts'
