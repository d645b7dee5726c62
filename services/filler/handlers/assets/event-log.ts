import { nameToInt64 } from '../../../core/antelope/index.ts'
import type { RowSink } from '../../rows/operations.ts'
import { BlockTransactions } from '../block-transactions.ts'
import type { ActionEvent, BlockInfo } from '../handler.ts'
import { logCodes } from './contract.ts'
import type { CollectionAction, LogTransfer } from './contract.ts'
import { toJsonText } from '../../rows/json-text.ts'
import { tables } from './tables.ts'

/** Name of a logged action. */
export type LogName = keyof typeof logCodes

/** Whether the reader stores logs and transfers. */
export interface StoredHistory {
  readonly logs: boolean
  readonly transfers: boolean
}

/** Writes the append-only tables: logs, transfers, and the transactions that contain them. */
export class EventLog {
  readonly #transactions: BlockTransactions
  readonly #sink: RowSink
  readonly #stored: StoredHistory

  constructor(block: BlockInfo, sink: RowSink, stored: StoredHistory) {
    this.#transactions = new BlockTransactions(block)
    this.#sink = sink
    this.#stored = stored
  }

  get keepsLogs(): boolean {
    return this.#stored.logs
  }

  transfer(event: ActionEvent, log: LogTransfer): void {
    if (!this.#stored.transfers) return
    this.#transactions.add(event)
    this.#sink.append(tables.transfers, {
      transfer_id: event.seq,
      sender: log.from,
      recipient: log.to,
      collection_name: log.collection_name,
      memo: log.memo,
      asset_ids: log.asset_ids,
    })
    this.#sink.add(tables.transferCounts, { collection_name: log.collection_name, transfers: 1n })
  }

  /**
   * Logs an action.
   * @param data action data without the subject, or null.
   * @param packed part of the action data that is stored in packed form, in addition to or instead of `data`.
   */
  write(
    event: ActionEvent,
    subject: bigint,
    data: Readonly<Record<string, unknown>> | null,
    packed: Uint8Array | null = null,
  ): void {
    if (!this.#stored.logs) return
    this.#transactions.add(event)
    this.#append(event, subject, data, packed)
  }

  /** Logs an action on a collection; the subject is the collection name, so the data omit the name. */
  writeForCollection(event: ActionEvent, data: CollectionAction): void {
    const { collection_name: collection, ...rest } = data
    this.write(event, nameToInt64(collection), Object.keys(rest).length === 0 ? null : rest)
  }

  /**
   * Adds the transaction of a logged action that has no log row, or whose log row `complete` writes at the end of the
   * block.
   */
  reserve(event: ActionEvent): void {
    if (this.#stored.logs) this.#transactions.add(event)
  }

  /** Writes the log row of an action whose transaction `reserve` has added. */
  complete(event: ActionEvent, subject: bigint, data: Readonly<Record<string, unknown>>): void {
    if (this.#stored.logs) this.#append(event, subject, data, null)
  }

  #append(
    event: ActionEvent,
    subject: bigint,
    data: Readonly<Record<string, unknown>> | null,
    packed: Uint8Array | null,
  ): void {
    this.#sink.append(tables.logs, {
      seq: event.seq,
      subject,
      action: logCodes[event.name as LogName],
      data: data === null ? null : toJsonText(data),
      packed: packed === null ? null : Buffer.from(packed),
    })
  }

  /** Passes the block row with its transactions to the sink if any event of the block was stored. */
  end(): void {
    this.#transactions.end(tables.blocks, this.#sink)
  }
}
