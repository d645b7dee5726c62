export { compareDigests, digestDatabase, listDigestTables } from './digest/index.ts'
export type { DatabaseDigest, DigestOptions, DigestPosition, TableDigest } from './digest/index.ts'
export { openOwnDecoder, openRowDecoder } from './decode/index.ts'
export type { RowDecoder } from './decode/index.ts'
export { derivedRules, findDerivedViolations, marketRules } from './derived/index.ts'
export type { DerivedRule, DerivedViolations } from './derived/index.ts'
export {
  DEFAULT_REQUESTS_AT_ONCE,
  describeRepair,
  planRepairs,
  repairDatabase,
  tableNames,
  verify,
  verifyDatabase,
  verifyWith,
} from './engine/index.ts'
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
export { FolderSource, HttpSource, StateSource } from './sources/index.ts'
export type { ChainSource, Head, HttpSourceOptions } from './sources/index.ts'
