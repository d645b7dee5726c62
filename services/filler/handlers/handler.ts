import type { DerivedStep, RowSink } from '../rows/operations.ts'
import type { Table } from '../../core/model/index.ts'
import type { DataOf, Declaration } from './declaration.ts'

/** A block as handlers see it. */
export interface BlockInfo {
  readonly num: number
  /** Epoch milliseconds. */
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
  /** Position in the transaction, from 1. */
  readonly ordinal: number
  /** Position of the action that sent this one; 0 when the user signed it. */
  readonly creatorOrdinal: number
  readonly name: Name
  /** The fields that the handler requested. */
  readonly data: Data
  /** The action's packed data. */
  readonly packed: Uint8Array
  /** Accounts that authorised it. */
  readonly actors: () => readonly string[]
}

/**
 * A row of the handler's contract as it is at the end of the block. Valid during the call only; only requested fields are
 * decoded.
 */
export interface RowEvent<Name extends string = string, Value = unknown> {
  readonly table: Name
  /** False: the row was removed, and the value is the one from before the block. */
  readonly present: boolean
  scope(): string
  primaryKey(): bigint
  /** The fields that the handler requested. @throws DecodeError when no ABI of the contract fits. */
  value(): Value
}

/** The events of declared actions: the name tells the type of the data. */
export type ActionOf<Actions> = {
  [Name in keyof Actions & string]: ActionEvent<Name, DataOf<Actions[Name]>>
}[keyof Actions & string]

/** Those events of a union that have one of the names. */
export type Named<Event extends ActionEvent, Name extends Event['name']> = Extract<Event, { name: Name }>

/** The events of rows of declared tables: the table tells the type of the value. */
export type RowOf<Rows> = {
  [Name in keyof Rows & string]: RowEvent<Name, DataOf<Rows[Name]>>
}[keyof Rows & string]

/**
 * Work on one block: actions in order of execution, then rows in the node's order, then the end. The reader passes events of
 * the actions and tables that the handler declares, decoded as declared: here the types of the declarations begin, and
 * nothing checks them again.
 */
export interface BlockScope<
  State,
  Action extends ActionEvent = ActionEvent,
  Row extends RowEvent = RowEvent,
> {
  action(event: Action): void
  row(event: Row): void
  /** Gives the last operations to the sink and returns the state after the block. */
  end(): State
}

/** What the work on one block starts from. */
export interface BlockStart<State> {
  readonly block: BlockInfo
  readonly state: State
  readonly sink: RowSink
}

/** Reads from the database outside of a block. */
export type Query = <T extends Record<string, unknown>>(
  text: string,
  values?: readonly unknown[],
) => Promise<T[]>

/** The declarations that events of actions follow from. */
type ActionDeclarations<Action extends ActionEvent> = {
  readonly [Event in Action as Event['name']]: Declaration<Event['data']>
}

/** The declarations that events of rows follow from. */
type RowDeclarations<Row extends RowEvent> = {
  readonly [Event in Row as Event['table']]: Declaration<ReturnType<Event['value']>>
}

/** A contract family: the actions and tables that it reads, and its row operations. Handlers are pure: their input is the block and their state, their only output are row operations to a sink.
 */
export interface Handler<
  State = unknown,
  Action extends ActionEvent = ActionEvent,
  Row extends RowEvent = RowEvent,
> {
  /** Family name: assets, market, oracle or tools. */
  readonly family: string
  /** Contract account. */
  readonly account: string
  /** Tables that it writes. */
  readonly tables: readonly Table[]
  /** Values derived from its rows and those of the families before it in the registry; in order. */
  readonly derived?: readonly DerivedStep[]
  /** Actions that it wants, by name. */
  readonly actions: ActionDeclarations<Action>
  /** Contract tables whose rows it wants, by name. */
  readonly rows: RowDeclarations<Row>
  /** Reads the state as of the committed position. */
  load(query: Query): Promise<State>
  /** Begins a block. `warn` takes what an operator should know, at most once a block and kind. */
  open(
    block: BlockInfo,
    state: State,
    sink: RowSink,
    warn: (message: string) => void,
  ): BlockScope<State, Action, Row>
}
