/** Struct fields to decode; null for all. Fields that the ABI lacks are absent in the decoded value. */
export type WantedFields = readonly string[] | null

/** An action or contract table that a handler reads, with the type of the decoded data. */
export interface Declaration<Data = unknown> {
  readonly fields: WantedFields
  /**
   * Integer fields that may be 2^63 or more, because their database columns can store such values; null for every
   * field. Default: no field.
   */
  readonly wide?: WantedFields
  /** Phantom property, never set: carries the type `Data` for the compiler. */
  readonly data?: Data
}

/** The actions or contract tables that a handler reads, by name. */
export type Declarations = Readonly<Record<string, Declaration>>

export interface LoggedAction<Data = unknown> extends Declaration<Data> {
  /** Code of the action in the family's table `log_actions`. */
  readonly code: number
}

/** Type of the decoded data of a declared action or contract table. */
export type DataOf<Declared> = Declared extends Declaration<infer Data> ? Data : never

/** Names of the logged actions in a set of declarations. */
type LoggedName<Declared> = {
  [Name in keyof Declared & string]: Declared[Name] extends LoggedAction ? Name : never
}[keyof Declared & string]

/** A declaration of all fields of a struct; `only` selects some fields. */
interface Struct<Data> extends Declaration<Data> {
  only<Field extends keyof Data & string>(...fields: readonly Field[]): Declaration<Pick<Data, Field>>
  /**
   * Declares all fields of the struct. The fields in the arguments may contain values of 2^63 or more. Without
   * arguments, every field may contain such values.
   */
  withWide(...fields: readonly (keyof Data & string)[]): Declaration<Data>
}

/** Declares the fields of an action or row to decode: all, or a selection with `only`. */
export function struct<Data>(): Struct<Data> {
  return {
    fields: null,
    only: (...fields) => ({ fields }),
    withWide: (...fields) => ({ fields: null, wide: fields.length === 0 ? null : fields }),
  }
}

/** Declares an action that the handler logs under a code. */
export function logged<Data>(code: number, declaration: Declaration<Data>): LoggedAction<Data> {
  const { fields, wide = [] } = declaration
  return { code, fields, wide }
}

/** Returns the log code of each logged action, by action name. */
export function logCodesOf<Declared extends Declarations>(
  actions: Declared,
): Readonly<Record<LoggedName<Declared>, number>> {
  const codes = Object.entries(actions).flatMap(([name, action]) =>
    'code' in action ? [[name, action.code]] : [],
  )
  return Object.fromEntries(codes) as Record<LoggedName<Declared>, number>
}
