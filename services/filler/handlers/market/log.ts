import type { RowSink } from '../../rows/operations.ts'
import { BlockTransactions } from '../block-transactions.ts'
import type { ActionEvent, BlockInfo } from '../handler.ts'
import { toJsonText } from '../../rows/json-text.ts'
import { logCodes } from './contract.ts'
import { tables } from './tables.ts'

/** Writes the log, and collects the transactions that contain logs, bids and payouts. */
export class MarketLog {
  readonly #transactions: BlockTransactions
  readonly #sink: RowSink
  readonly #keepsLogs: boolean

  constructor(block: BlockInfo, sink: RowSink, keepsLogs: boolean) {
    this.#transactions = new BlockTransactions(block)
    this.#sink = sink
    this.#keepsLogs = keepsLogs
  }

  /** Adds the transaction of an event that has its own table: a bid or a payout. */
  addTransaction(event: ActionEvent): void {
    this.#transactions.add(event)
  }

  /** Logs an action of a listing, or of the contract itself (subject 0). */
  write(event: ActionEvent, subject: bigint, data: Readonly<Record<string, unknown>> | null = null): void {
    this.reserve(event)
    this.complete(event, subject, data)
  }

  /** Adds the transaction of an action whose log `complete` writes at the end of the block. */
  reserve(event: ActionEvent): void {
    if (this.#keepsLogs) this.#transactions.add(event)
  }

  /** Writes the log row of an action whose transaction `reserve` has added. */
  complete(event: ActionEvent, subject: bigint, data: Readonly<Record<string, unknown>> | null): void {
    this.#append(event, logCodes[event.name as keyof typeof logCodes], subject, data)
  }

  /** Logs an action under an explicit code: the code of a royalty action also depends on the listing type. */
  writeCode(event: ActionEvent, action: number, subject: bigint): void {
    this.reserve(event)
    this.#append(event, action, subject, null)
  }

  #append(
    event: ActionEvent,
    action: number,
    subject: bigint,
    data: Readonly<Record<string, unknown>> | null,
  ): void {
    if (!this.#keepsLogs) return
    this.#sink.append(tables.logs, {
      seq: event.seq,
      subject,
      action,
      data: data === null ? null : toJsonText(data),
    })
  }

  /** Passes the block row with its transactions to the sink. */
  end(): void {
    this.#transactions.end(tables.blocks, this.#sink)
  }
}
