import { FatalError } from '../../core/errors/index.ts'
import { copyLine } from './copy.ts'
import type { MutableRow } from '../../core/model/index.ts'

/**
 * Number of rows to collect before they are packed to COPY text: row objects take several times the memory of
 * their text.
 */
const PACKED_ROWS = 256

/**
 * Rows of an append-only table that wait to be written, in order. Most of the rows are packed as COPY text outside the
 * JavaScript heap.
 */
export class AppendedRows {
  /** Number of rows, packed and unpacked. */
  count = 0
  /** Lowest global sequence of the appended rows; meaningless without rows. */
  low = 0n
  /** Highest global sequence of the appended rows; meaningless without rows. */
  high = 0n
  /** Column names of the appended rows. */
  columns: readonly string[] = []
  /** Packed rows as COPY text. The rows in `rows` come after the packed rows. */
  readonly packed: Buffer[] = []
  /** Rows not packed yet; they follow `packed`. */
  rows: MutableRow[] = []

  /** Adds a row; returns the number of bytes by which the packed text grew. */
  push(row: MutableRow, sequence: bigint): number {
    if (this.count === 0) {
      this.low = this.high = sequence
      this.columns = Object.keys(row)
    }
    if (sequence < this.low) this.low = sequence
    if (sequence > this.high) this.high = sequence
    this.count++
    this.rows.push(row)
    return this.rows.length < PACKED_ROWS ? 0 : this.#pack()
  }

  #pack(): number {
    let text = ''
    for (const row of this.rows) {
      if (Object.keys(row).length !== this.columns.length)
        throw new FatalError('INTERNAL', `a row has other columns than ${this.columns.join(', ')}`)
      text += copyLine(this.columns, row)
    }
    const bytes = Buffer.from(text)
    this.packed.push(bytes)
    this.rows = []
    return bytes.byteLength
  }
}
