/** Value of a column in a row. JSON columns hold JSON text. */
export type ColumnValue =
  bigint | number | string | boolean | null | Uint8Array | readonly string[] | readonly bigint[]

/** Types of columns, as PostgreSQL names them. */
export type SqlType =
  | 'bigint'
  | 'bigint[]'
  | 'boolean'
  | 'bytea'
  | 'double precision'
  | 'integer'
  | 'integer[]'
  | 'jsonb'
  | 'numeric'
  | 'smallint'
  | 'text'
  | 'text[]'

/** JSON text of a `jsonb` column. */
export type JsonText = string

/**
 * Where the value of a column comes from, and with it how `verify` accounts for the column:
 * - `row`: a field of a row of the contract; compared with the chain.
 * - `rule`: other rows of the database; recomputed.
 * - `action`: a field of an action; checked if a rule of `verify` determines the value, else not checked.
 * - `block`: number, time or log of a block; checked if a rule of `verify` determines the value, else not checked.
 * - `decoding`: contract ABIs and code, by which the reader decodes; not checked.
 * - `identity`: the id of the chain; not checked.
 * - `state`: a row of any contract, stored by the handler `state`; not checked.
 * - `reader`: the reader that wrote the row, or its settings; no part of a digest.
 */
export type Origin = 'row' | 'rule' | 'action' | 'block' | 'decoding' | 'identity' | 'state' | 'reader'

/** A column of a table. `Value` is the type of its values in rows. */
export interface Column<Value extends ColumnValue = ColumnValue> {
  readonly type: SqlType
  readonly isNullable: boolean
  readonly origin: Origin
  /** Never set: the type exists for the compiler only. */
  readonly value?: Value
}

/** The columns of a table, in their order. */
export type Columns = Readonly<Record<string, Column>>

/** Type of the rows of a table with the given columns. */
export type RowOfColumns<Described extends Columns> = {
  -readonly [Name in keyof Described]: Described[Name] extends Column<infer Value> ? Value : never
}

/** Returns one column description per SQL type, for columns whose values all have the given {@link Origin}. */
function columnsOf(origin: Origin) {
  const column = <Value extends ColumnValue>(type: SqlType): Column<Value> => ({
    type,
    isNullable: false,
    origin,
  })
  return {
    bigint: column<bigint>('bigint'),
    bigints: column<readonly bigint[]>('bigint[]'),
    boolean: column<boolean>('boolean'),
    bytes: column<Uint8Array>('bytea'),
    /** Decimal text, as statements return `numeric`. */
    decimal: column<string>('numeric'),
    double: column<number>('double precision'),
    integer: column<number>('integer'),
    integers: column<readonly bigint[]>('integer[]'),
    json: column<JsonText>('jsonb'),
    /** An unsigned number of up to 128 bits. */
    numeric: column<bigint>('numeric'),
    smallint: column<number>('smallint'),
    text: column<string>('text'),
    texts: column<readonly string[]>('text[]'),
    /** Milliseconds since 1970. */
    time: column<number>('bigint'),
    uint32: column<number>('bigint'),
  }
}

export const row = columnsOf('row')
export const rule = columnsOf('rule')
export const action = columnsOf('action')
export const block = columnsOf('block')
export const decoding = columnsOf('decoding')
export const identity = columnsOf('identity')
export const state = columnsOf('state')
export const reader = columnsOf('reader')

/** Returns the column as nullable. */
export function orNull<Value extends ColumnValue>(column: Column<Value>): Column<Value | null> {
  return { ...column, isNullable: true }
}
