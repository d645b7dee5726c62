/** JSON Schema (draft 2020-12) of a value, for the documentation. */
export type Schema = Readonly<Record<string, unknown>>

/** Looks up the items of a named list; undefined for an unknown list. */
export type NamedLists = (name: string) => Promise<readonly string[] | undefined>

/** Type and bounds of a parameter value: for the documentation, and for tests that generate values. */
export interface Form {
  /** Type name of a single value, for example `int`. */
  readonly type: string
  /**
   * `comma`: several comma-separated values. `named`: likewise, and an element `$list:NAME` is replaced by the items
   * of a named list.
   */
  readonly list?: 'comma' | 'named'
  /** Value of an absent parameter. */
  readonly default?: string | number | boolean
  /** Minimum of a number; minimum length of a text. */
  readonly minimum?: number
  /** Maximum of a number; maximum length of a text, or of each text in a list. */
  readonly maximum?: number
  /** Allowed texts; absent if any text is allowed. */
  readonly values?: readonly string[]
}

/** Declaration of an endpoint parameter, used for validation and documentation. `T` is the type of the parsed value. */
export interface Parameter<T = unknown> extends Form {
  readonly description: string
  /** Source of the value: `path` = a path segment; absent = query string or body. */
  readonly in?: 'path'
  /** Whether the documentation marks the parameter as required. Undefined: the documentation does not say. */
  readonly isRequired?: boolean
  readonly schema: Schema
  /**
   * Parses a given value: text, undefined if absent, or any JSON value of a body. Returns undefined if the value
   * counts as absent.
   * @param warn called if an invalid value is replaced by the default instead of refused.
   * @throws Complaint for an invalid value.
   */
  read(given: unknown, lists: NamedLists, warn?: (complaint: Complaint) => void): T | Promise<T>
}

/** Parameters by name, in the order of validation and documentation. */
export type Parameters = Readonly<Record<string, Parameter>>

type ValueOf<P> = P extends Parameter<infer T> ? T : never

type OptionalNames<P extends Parameters> = {
  [K in keyof P]: undefined extends ValueOf<P[K]> ? K : never
}[keyof P]

/** Parsed values of the parameters. An absent parameter without default has no member. */
export type Values<P extends Parameters = Parameters> = {
  readonly [K in Exclude<keyof P, OptionalNames<P>>]: ValueOf<P[K]>
} & { readonly [K in OptionalNames<P>]?: ValueOf<P[K]> }

/** Describes an invalid value; callers put the field name in front. */
export class Complaint extends Error {
  /**
   * Reason that REST errors add to the parameter name, for example `the text is longer than 128 characters`. Undefined
   * if the name suffices.
   */
  readonly reason: string | undefined

  constructor(message: string, reason?: string) {
    super(message)
    this.reason = reason
  }
}

/** Common members of the endpoints of all services. */
export interface EndpointBase<P extends Parameters> {
  /** Path pattern, for example `/v1/assets/:asset_id`. */
  readonly path: string
  /** Documentation group of the endpoint. */
  readonly tag: string
  readonly summary: string
  readonly parameters: P
}
