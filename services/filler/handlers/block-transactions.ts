import type { AppendTable, RowOf } from '../../core/model/index.ts'
import type { toolsTables } from '../../core/model/tables/index.ts'
import type { RowSink } from '../rows/operations.ts'
import type { ActionEvent, BlockInfo } from './handler.ts'

/** Row of the `blocks` table; the table has the same columns in every family. */
type BlockRow = RowOf<typeof toolsTables.blocks>

/** Collects the transactions of a block that contain stored events. */
export class BlockTransactions {
  readonly #block: BlockInfo
  #lastTxIndex = -1
  readonly #txStarts: bigint[] = []
  readonly #txids: Uint8Array[] = []

  constructor(block: BlockInfo) {
    this.#block = block
  }

  /**
   * Adds the transaction of an event. Actions come in order of execution, so an event with a new transaction index
   * starts the next transaction.
   */
  add(event: ActionEvent): void {
    if (event.txIndex === this.#lastTxIndex) return
    this.#lastTxIndex = event.txIndex
    this.#txStarts.push(event.seq)
    this.#txids.push(event.txid)
  }

  /** Passes the block row with its transactions to the sink if any event of the block was stored. */
  end(table: AppendTable<BlockRow>, sink: RowSink): void {
    const first = this.#txStarts[0]
    if (first === undefined) return
    sink.append(table, {
      first_seq: first,
      block_time: this.#block.timeMs,
      block_num: this.#block.num,
      tx_offsets: this.#txStarts.map((seq) => seq - first),
      txids: Buffer.concat(this.#txids),
    })
  }
}
