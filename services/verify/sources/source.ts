import type { ChainRow, Place } from '../tables/index.ts'

/** Source of chain rows. */
export interface ChainSource {
  /** Type of the source with its URL or folder, for reports. */
  readonly description: string
  /** Name of the decoder, for reports; null if the source returns decoded rows. */
  readonly decoder: string | null
  /**
   * Whether all rows are as of one block, the committed block of the database. If not, each row is as of the time of
   * its request, and a row that differs is read again.
   */
  readonly isFixed: boolean
  /** Whether the source has every row of a contract table; false if the chain may have more. */
  readonly isWhole: boolean
  /** Reason why a row that the source lacks may exist on the chain; null if the source lists the rows of the chain. */
  readonly absenceDoubt: string | null
  /** Sentences about the source for the report. */
  readonly notes?: readonly string[]
  /** Whether the source can list the rows of a contract table. If not, the table is not compared. */
  answers(contract: string, table: string): Promise<boolean>
  /**
   * Every row of a contract table, in batches, in any order.
   * @throws RetryableError `CHAIN_UNREACHABLE` if the chain cannot be read completely.
   */
  rows(contract: string, table: string, scope?: string): AsyncIterable<readonly ChainRow[]>
  /** Reads the current row at a scope and primary key; null if the chain has no such row. */
  row(contract: string, table: string, place: Place): Promise<ChainRow | null>
  /** The newest block from which the source may return rows; null if all rows are as of one fixed block (`isFixed`). */
  head(): Promise<Head | null>
}

export interface Head {
  readonly num: number
  /** Id of the block, 64 hexadecimal digits. */
  readonly id: string
}
