import type { CoverageReport } from '../checked/index.ts'
import type { DerivedViolations } from '../../core/derived/index.ts'
import type { Difference } from './difference.ts'

/** Result of the comparison of one table. */
export interface TableReport {
  readonly table: string
  readonly contract: string
  readonly contractTable: string
  /** Number of rows of the chain that were compared. */
  readonly rows: number
  /** Number of rows that differed at first and were read again. */
  readonly deferred: number
  /** Number of rows that differed at first and agreed when they were read again. */
  readonly seen: number
  /** Number of rows that differ between chain and database. */
  readonly differences: number
}

/** Result of a comparison. */
export interface VerifyReport {
  readonly source: string
  /** Name of the decoder; null if the source returns decoded rows. */
  readonly decoder: string | null
  /** Committed block of the database at the end of the comparison. */
  readonly block: { readonly num: number; readonly id: string } | null
  readonly tables: readonly TableReport[]
  /** Every row that differs between chain and database. */
  readonly differences: readonly Difference[]
  /** Violations of derived rules; null if the rules were not checked because only some rows were requested. */
  readonly derived: readonly DerivedViolations[] | null
  /** Columns and rows that the comparison covers; null when only some rows were compared. */
  readonly coverage: CoverageReport | null
  /** Reasons why a finished comparison without differences does not prove equality. */
  readonly incomplete: readonly string[]
  /** Tables and columns that were not compared, with the reasons. */
  readonly notes: readonly string[]
  /** Reason why the comparison could not finish; null if it finished. */
  readonly unfinished: string | null
  readonly seconds: number
}

/** Progress of a comparison. */
export interface VerifyProgress {
  /** Table or rule that is being compared. */
  readonly at: string
  readonly rows: number
  /** Estimated number of rows to compare. */
  readonly of: number
  readonly rowsPerSecond: number
  readonly secondsLeft: number | null
}
