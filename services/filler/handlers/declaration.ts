/** Which fields of a struct are wanted; null for all. Names that an ABI lacks are left out of the decoded value. */
export type WantedFields = readonly string[] | null

/** An action or contract table that a handler reads, with the type of what is decoded of it. */
export interface Declaration<Data = unknown> {
  readonly fields: WantedFields
  /** Integers that may be 2^63 or more, because their columns take them; null for every field. Default none. */
  readonly wide?: WantedFields
  /** Never set: the type exists for the compiler only. */
  readonly data?: Data
}

/** The actions or contract tables that a handler reads, by name. */
export type Declarations = Readonly<Record<string, Declaration>>

/** An action that is logged. */
export interface LoggedAction<Data = unknown> extends Declaration<Data> {
  /** Its code in the family's table `log_actions`. */
  readonly code: number
}

/** The type that a declaration stands for. */
export type DataOf<Declared> = Declared extends Declaration<infer Data> ? Data : never

/** Names of the logged actions among declared ones. */
type LoggedName<Declared> = {
  [Name in keyof Declared & string]: Declared[Name] extends LoggedAction ? Name : never
}[keyof Declared & string]

/** A declaration of all fields of a struct, from which some can be chosen. */
interface Struct<Data> extends Declaration<Data> {
  only<Field extends keyof Data & string>(...fields: readonly Field[]): Declaration<Pick<Data, Field>>
  /** All fields, of which those that are named may be 2^63 or more; without names every field. */
  withWide(...fields: readonly (keyof Data & string)[]): Declaration<Data>
}

/** Declares what is decoded of an action or of a row: all fields, or `only` those that are named. */
export function struct<Data>(): Struct<Data> {
  return {
    fields: null,
    only: (...fields) => ({ fields }),
    withWide: (...fields) => ({ fields: null, wide: fields.length === 0 ? null : fields }),
  }
}

/** Declares an action that is logged. */
export function logged<Data>(code: number, declaration: Declaration<Data>): LoggedAction<Data> {
  const { fields, wide = [] } = declaration
  return { code, fields, wide }
}

/** Codes of the logged actions among declared ones. */
export function logCodesOf<Declared extends Declarations>(
  actions: Declared,
): Readonly<Record<LoggedName<Declared>, number>> {
  const codes = Object.entries(actions).flatMap(([name, action]) =>
    'code' in action ? [[name, action.code]] : [],
  )
  return Object.fromEntries(codes) as Record<LoggedName<Declared>, number>
}
