import type { CoverageReport } from '../checked/index.ts'
import type { DerivedViolations } from '../../core/derived/index.ts'
import type { Difference } from './difference.ts'

/** What came of one table. */
export interface TableReport {
  readonly table: string
  readonly contract: string
  readonly contractTable: string
  /** Rows of the chain that were compared. */
  readonly rows: number
  /** Rows that differed at first and were asked again. */
  readonly deferred: number
  /** Of these, rows that agreed later. */
  readonly seen: number
  /** Rows that differ. */
  readonly differences: number
}

/** What came of a comparison. */
export interface VerifyReport {
  readonly source: string
  /** What decoded the rows; null when they came decoded. */
  readonly decoder: string | null
  /** Committed block of the database at the end. */
  readonly block: { readonly num: number; readonly id: string } | null
  readonly tables: readonly TableReport[]
  /** Every row that differs. */
  readonly differences: readonly Difference[]
  /** Null when what is derived was not compared: only some rows were asked for. */
  readonly derived: readonly DerivedViolations[] | null
  /** Columns and rows that the comparison covers; null when only some rows were compared. */
  readonly coverage: CoverageReport | null
  /** Why a comparison to the end does not say that both sides are equal, even where nothing differs. */
  readonly incomplete: readonly string[]
  /** What was not compared, and why. */
  readonly notes: readonly string[]
  /** Null when everything was compared; else why not. */
  readonly unfinished: string | null
  readonly seconds: number
}

/** How far a comparison is. */
export interface VerifyProgress {
  /** Table or rule that is being compared. */
  readonly at: string
  readonly rows: number
  /** Rows that there are, about. */
  readonly of: number
  readonly rowsPerSecond: number
  /** Null when it is unknown. */
  readonly secondsLeft: number | null
}
