import type { RowSink } from '../rows/operations.ts'
import type { Table } from '../../core/model/index.ts'
import type { BlockInfo, Query } from './handler.ts'

/** A block, as passed to state history writers. */
export interface WriterBlock extends BlockInfo {
  /** 32 bytes, a view of the node's message. */
  readonly id: Uint8Array
  /** Head of the node when it sent the block. */
  readonly head: number
  /** Last block that no fork can undo, at most this one. */
  readonly irreversible: number
}

/** A contract row as the chain packs it. Valid during the call only. */
export interface RawRow {
  /** False: the row was removed, and the value is the one from before the block. */
  readonly present: boolean
  /** Contract that owns the row. */
  readonly code: string
  readonly scope: string
  readonly table: string
  readonly payer: string
  readonly value: Uint8Array
  primaryKey(): bigint
}

/** The keys of a permission of any account. */
export interface RawPermission {
  readonly account: string
  readonly permission: string
  /** `PUB_K1_…`, `PUB_R1_…` or `PUB_WA_…`. */
  readonly keys: readonly string[]
}

/** A link of any account's permission to an action. */
export interface RawPermissionLink {
  readonly account: string
  readonly contract: string
  /** Empty for all actions of the contract. */
  readonly action: string
  readonly permission: string
}

/** Work on one block: rows in the node's order, then the end. */
export interface StateWriterScope<State> {
  row(row: RawRow): void
  permission(present: boolean, row: RawPermission): void
  link(present: boolean, row: RawPermissionLink): void
  /** Passes the last operations to the sink and returns the state after the block. */
  end(): State
}

/** State history writer: stores the chain's state of any contract as bytes, without decoding it. Pure like a handler: its input is the block and its state, its only output are row operations to a sink.
 */
export interface StateWriter<State = unknown> {
  /** Name in readers.config.json. */
  readonly family: string
  /** What it stores, in one line: a database has one such set. */
  readonly account: string
  /** Tables that it writes. */
  readonly tables: readonly Table[]
  /** Contracts whose rows it wants, all of their tables. */
  readonly accounts: readonly string[]
  /** Whether it wants permissions and their links. */
  readonly permissions: boolean
  /** Reads the state as of the committed position. */
  load(query: Query): Promise<State>
  /** Whether blocks have been stored in a state. */
  hasBegun(state: State): boolean
  /** Begins a block; called for every block. */
  open(block: WriterBlock, state: State, sink: RowSink): StateWriterScope<State>
}
