import type { DerivedStep, RowSink } from '../rows/operations.ts'
import type { Table } from '../../core/model/index.ts'
import type { DataOf, Declaration } from './declaration.ts'

/** Number and time of the block that a handler works on. */
export interface BlockInfo {
  readonly num: number
  /** Block time in epoch milliseconds. */
  readonly timeMs: number
}

/** An executed action of the handler's contract, decoded with the ABI in force at that point. */
export interface ActionEvent<Name extends string = string, Data = unknown> {
  /** Global sequence: the order of execution, unique on the chain. */
  readonly seq: bigint
  /** Position of the transaction in the block. */
  readonly txIndex: number
  /** Transaction id, 32 bytes. */
  readonly txid: Uint8Array
  /** Position of the action in the transaction, from 1. */
  readonly ordinal: number
  /** Position of the action that sent this inline action; 0 if a user signed it. */
  readonly creatorOrdinal: number
  readonly name: Name
  /** Decoded data: the fields that the handler declared. */
  readonly data: Data
  /** The action's packed data. */
  readonly packed: Uint8Array
  /** Accounts that authorised the action. */
  readonly actors: () => readonly string[]
}

/**
 * A row of the handler's contract as of the end of the block. Valid during the call only; decodes declared fields
 * only.
 */
export interface RowEvent<Name extends string = string, Value = unknown> {
  readonly table: Name
  /** False if the block removed the row; the value is then from before the block. */
  readonly present: boolean
  scope(): string
  primaryKey(): bigint
  /**
   * Decodes the fields that the handler declared.
   * @throws DecodeError if no ABI of the contract fits.
   */
  value(): Value
}

/** Union of the events of declared actions, discriminated by `name`. */
export type ActionOf<Actions> = {
  [Name in keyof Actions & string]: ActionEvent<Name, DataOf<Actions[Name]>>
}[keyof Actions & string]

/** Narrows a union of action events to the given names. */
export type Named<Event extends ActionEvent, Name extends Event['name']> = Extract<Event, { name: Name }>

/** Union of the row events of declared tables, discriminated by `table`. */
export type RowOf<Rows> = {
  [Name in keyof Rows & string]: RowEvent<Name, DataOf<Rows[Name]>>
}[keyof Rows & string]

/**
 * Work on one block: actions in order of execution, then rows in the node's order, then `end`. The reader passes only
 * declared actions and tables, decoded as declared. Handlers trust the declared types without checks.
 */
export interface BlockScope<
  State,
  Action extends ActionEvent = ActionEvent,
  Row extends RowEvent = RowEvent,
> {
  action(event: Action): void
  row(event: Row): void
  /** Ends the block: passes the last row operations of the block to the sink and returns the handler's state. */
  end(): State
}

/** Arguments of `Handler.open`: the block, the handler state before the block, and the sink for row operations. */
export interface BlockStart<State> {
  readonly block: BlockInfo
  readonly state: State
  readonly sink: RowSink
}

/** Runs an SQL query on the database and returns the rows. Called between two blocks, not while a block is applied. */
export type Query = <T extends Record<string, unknown>>(
  text: string,
  values?: readonly unknown[],
) => Promise<T[]>

/** Maps the name of each action to the declaration of its data. */
type ActionDeclarations<Action extends ActionEvent> = {
  readonly [Event in Action as Event['name']]: Declaration<Event['data']>
}

/** Maps the name of each contract table to the declaration of its rows. */
type RowDeclarations<Row extends RowEvent> = {
  readonly [Event in Row as Event['table']]: Declaration<ReturnType<Event['value']>>
}

/**
 * The handler of a contract family: names the actions and tables that it reads, and produces row operations. A handler
 * is pure: input are the block and the handler's state, the only output are row operations to a sink.
 */
export interface Handler<
  State = unknown,
  Action extends ActionEvent = ActionEvent,
  Row extends RowEvent = RowEvent,
> {
  /** Family name: assets, market, oracle or tools. */
  readonly family: string
  /** Contract account that the handler indexes. */
  readonly account: string
  /** Tables that the handler writes. */
  readonly tables: readonly Table[]
  /** Values derived from the family's rows and from families earlier in the registry, in order of computation. */
  readonly derived?: readonly DerivedStep[]
  /** Actions that the handler reads, by name. */
  readonly actions: ActionDeclarations<Action>
  /** Contract tables that the handler reads, by name. */
  readonly rows: RowDeclarations<Row>
  /** Reads the handler state from the database, as of the committed position. */
  load(query: Query): Promise<State>
  /** Starts a block. `warn` reports to the operator, at most once per block and kind of message. */
  open(
    block: BlockInfo,
    state: State,
    sink: RowSink,
    warn: (message: string) => void,
  ): BlockScope<State, Action, Row>
}
