import type { RowSink } from '../rows/operations.ts'
import type { Table } from '../../core/model/index.ts'
import type { BlockInfo, Query } from './handler.ts'

/** A block as the reader passes it to state history writers. */
export interface WriterBlock extends BlockInfo {
  /** Block id: 32 bytes, a view into the node's message. */
  readonly id: Uint8Array
  /** Head block of the node at the time when the node sent the block. */
  readonly head: number
  /** Last irreversible block of the node, or the number of the block itself if that is lower. */
  readonly irreversible: number
}

/** A contract row in the chain's packed form. Valid during the call only. */
export interface RawRow {
  /** False if the block removed the row; the value is then from before the block. */
  readonly present: boolean
  /** Contract that owns the row. */
  readonly code: string
  readonly scope: string
  readonly table: string
  readonly payer: string
  readonly value: Uint8Array
  primaryKey(): bigint
}

/** Keys of one permission of an account. */
export interface RawPermission {
  readonly account: string
  readonly permission: string
  /** Public keys as `PUB_K1_…`, `PUB_R1_…` or `PUB_WA_…`. */
  readonly keys: readonly string[]
}

/** A link from an account's permission to a contract action. */
export interface RawPermissionLink {
  readonly account: string
  readonly contract: string
  /** Action name; empty for all actions of the contract. */
  readonly action: string
  readonly permission: string
}

/** Work of a state history writer on one block: receives the rows in the node's order, then `end`. */
export interface StateWriterScope<State> {
  row(row: RawRow): void
  permission(present: boolean, row: RawPermission): void
  link(present: boolean, row: RawPermissionLink): void
  /** Ends the block: passes the last row operations of the block to the sink and returns the writer's state. */
  end(): State
}

/**
 * State history writer: stores the rows of any contract as bytes, without decoding the rows. A writer is pure, like a
 * handler: input are the block and the writer's state, the only output are row operations to a sink.
 */
export interface StateWriter<State = unknown> {
  /** Name of the state history writer in readers.config.json. */
  readonly family: string
  /**
   * One-line description of the stored accounts. `chain.sources` records the description; a reader refuses to start if
   * the description has changed.
   */
  readonly account: string
  /** Tables that the state history writer writes. */
  readonly tables: readonly Table[]
  /** Contracts whose table rows the writer stores: the rows of all their tables. */
  readonly accounts: readonly string[]
  /** Whether permissions and permission links are stored. */
  readonly permissions: boolean
  /** Reads the writer's state from the database, as of the committed position. */
  load(query: Query): Promise<State>
  /** Whether the writer has stored at least one block, according to `state`. */
  hasBegun(state: State): boolean
  /** Starts a block; called for every block, even without rows. */
  open(block: WriterBlock, state: State, sink: RowSink): StateWriterScope<State>
}
