import type { ChainRow, Place } from '../tables/index.ts'

/** Where rows of the chain come from. */
export interface ChainSource {
  /** For reports: what it is and where. */
  readonly description: string
  /** What decoded the rows, for reports; null when they came decoded. */
  readonly decoder: string | null
  /**
   * Whether all rows are of one block, the one that the database is compared at. Else rows are as new as their request,
   * and a difference has to be looked at again.
   */
  readonly isFixed: boolean
  /** Whether it knows a row of each contract table; false when rows that it lacks may be on the chain. */
  readonly isWhole: boolean
  /** What came up while reading and belongs into a report. */
  readonly notes?: readonly string[]
  /** Whether it can tell which rows a contract table has. If not, the table is not compared. */
  answers(contract: string, table: string): Promise<boolean>
  /**
   * Every row of a contract table, in batches, in any order.
   * @throws RetryableError `CHAIN_UNREACHABLE` when the chain cannot be read to its end.
   */
  rows(contract: string, table: string, scope?: string): AsyncIterable<readonly ChainRow[]>
  /** One row as it is now; null when there is none. */
  row(contract: string, table: string, place: Place): Promise<ChainRow | null>
  /** The newest block that rows may be of; null when the source is fixed. */
  head(): Promise<Head | null>
}

/** A block of the chain. */
export interface Head {
  readonly num: number
  /** 64 hexadecimal digits. */
  readonly id: string
}
