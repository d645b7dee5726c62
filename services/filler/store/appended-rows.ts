import { FatalError } from '../../core/errors/index.ts'
import { copyLine } from './copy.ts'
import type { MutableRow } from '../../core/model/index.ts'

/** From this many rows on they are packed: objects take several times the memory of their text. */
const PACKED_ROWS = 256

/** Rows of an append-only table that wait to be written, in order, most of them as COPY text outside the heap. */
export class AppendedRows {
  /** Rows, packed or not. */
  count = 0
  /** Lowest and highest global sequence; meaningless without rows. */
  low = 0n
  high = 0n
  /** Column names of the rows. */
  columns: readonly string[] = []
  /** COPY text of the first rows. */
  readonly packed: Buffer[] = []
  /** The rows after those. */
  rows: MutableRow[] = []

  /** Takes a row; returns by how many bytes the packed rows grew. */
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
