import { nameToInt64 } from '../../../core/antelope/index.ts'
import type { RowSink } from '../../store/index.ts'
import type { ActionEvent, BlockInfo } from '../handler.ts'
import { logCodes } from './contract.ts'
import type { LogTransfer } from './contract.ts'
import { toJsonText } from './json-text.ts'
import { tables } from './tables.ts'

/** Name of a logged action. */
export type LogName = keyof typeof logCodes

/** What of the past is kept. */
export interface KeptHistory {
  readonly logs: boolean
  readonly transfers: boolean
}

/** Writes the append-only tables: logs, transfers, and the transactions that they belong to. */
export class EventLog {
  private readonly block: BlockInfo
  private readonly sink: RowSink
  private readonly kept: KeptHistory
  private lastTxIndex = -1
  private readonly txStarts: bigint[] = []
  private readonly txids: Uint8Array[] = []

  constructor(block: BlockInfo, sink: RowSink, kept: KeptHistory) {
    this.block = block
    this.sink = sink
    this.kept = kept
  }

  get keepsLogs(): boolean {
    return this.kept.logs
  }

  transfer(event: ActionEvent, log: LogTransfer): void {
    if (!this.kept.transfers) return
    this.keepTransaction(event)
    this.sink.append(tables.transfers, {
      transfer_id: event.seq,
      sender: log.from,
      recipient: log.to,
      collection_name: log.collection_name,
      memo: log.memo,
      asset_ids: log.asset_ids,
    })
  }

  /**
   * Logs an action.
   *
   * @param data what the action says beyond its subject, or null when nothing.
   * @param packed instead of or beside data: the part of the action that is kept as it is.
   */
  write(
    event: ActionEvent,
    subject: bigint,
    data: Readonly<Record<string, unknown>> | null,
    packed: Uint8Array | null = null,
  ): void {
    if (!this.kept.logs) return
    this.keepTransaction(event)
    this.append(event, subject, data, packed)
  }

  /** Logs an action of a collection, without the name itself. */
  writeForCollection(event: ActionEvent, collection: string, data: Readonly<Record<string, unknown>>): void {
    const { collection_name: _, ...rest } = data
    this.write(event, nameToInt64(collection), Object.keys(rest).length === 0 ? null : rest)
  }

  /** Keeps the transaction of a log that has no row of its own, or gets it from `complete` at the end of the block. */
  reserve(event: ActionEvent): void {
    if (this.kept.logs) this.keepTransaction(event)
  }

  /** Writes a reserved log. */
  complete(event: ActionEvent, subject: bigint, data: Readonly<Record<string, unknown>>): void {
    if (this.kept.logs) this.append(event, subject, data, null)
  }

  private append(
    event: ActionEvent,
    subject: bigint,
    data: Readonly<Record<string, unknown>> | null,
    packed: Uint8Array | null,
  ): void {
    this.sink.append(tables.logs, {
      seq: event.seq,
      subject,
      action: logCodes[event.name as LogName],
      data: data === null ? null : toJsonText(data),
      packed: packed === null ? null : Buffer.from(packed),
    })
  }

  /** Gives the block with its transactions to the sink, when any event of it was kept. */
  end(): void {
    const first = this.txStarts[0]
    if (first === undefined) return
    this.sink.append(tables.blocks, {
      first_seq: first,
      block_time: this.block.timeMs,
      block_num: this.block.num,
      tx_offsets: this.txStarts.map((seq) => seq - first),
      txids: Buffer.concat(this.txids),
    })
  }

  /** Actions come in order of execution, transactions one after the other: the first kept event opens a new one. */
  private keepTransaction(event: ActionEvent): void {
    if (event.txIndex === this.lastTxIndex) return
    this.lastTxIndex = event.txIndex
    this.txStarts.push(event.seq)
    this.txids.push(event.txid)
  }
}
