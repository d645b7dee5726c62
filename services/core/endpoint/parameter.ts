/** JSON Schema (draft 2020-12) of a value, as far as documentation needs it. */
export type Schema = Readonly<Record<string, unknown>>

/** Looks up the items of a named list; an unknown list has none. */
export type NamedLists = (name: string) => Promise<readonly string[]>

/** How a value is written: for the documentation, and for tests that generate values. */
export interface Form {
  /** What one value is, for example `int`. */
  readonly type: string
  /**
   * `comma`: several values separated by commas. `named`: the same, and an element `$list:NAME` stands for the items
   * of a named list.
   */
  readonly list?: 'comma' | 'named'
  /** Value when it is absent. */
  readonly default?: string | number | boolean
  /** Smallest value of a number; smallest length of a text. */
  readonly minimum?: number
  /** Largest value of a number; greatest length of a text, of each of them where it is a list. */
  readonly maximum?: number
  /** The only allowed texts. */
  readonly values?: readonly string[]
}

/** One parameter of an endpoint, as data: validation and documentation come from it. `T` is what it becomes. */
export interface Parameter<T = unknown> extends Form {
  readonly description: string
  /** Where it comes from: a segment of the path, or query string and body together (default). */
  readonly in?: 'path'
  /** Whether the documentation says that it must be there; undefined where it does not say. */
  readonly isRequired?: boolean
  readonly schema: Schema
  /**
   * Reads what was given: text, undefined when absent, or whatever a JSON body holds. Undefined = counts as absent.
   * @param warn is called with what is wrong with a value that is replaced by the default instead of refused.
   * @throws Complaint when the value cannot be used.
   */
  read(given: unknown, lists: NamedLists, warn?: (complaint: Complaint) => void): T | Promise<T>
}

/** Parameters by name, in the order in which they are checked and documented. */
export type Parameters = Readonly<Record<string, Parameter>>

type ValueOf<P> = P extends Parameter<infer T> ? T : never

type OptionalNames<P extends Parameters> = {
  [K in keyof P]: undefined extends ValueOf<P[K]> ? K : never
}[keyof P]

/** What parameters become. One that was not given, and has no default, is no member. */
export type Values<P extends Parameters = Parameters> = {
  readonly [K in Exclude<keyof P, OptionalNames<P>>]: ValueOf<P[K]>
} & { readonly [K in OptionalNames<P>]?: ValueOf<P[K]> }

/** Says what is wrong with a value; the name of the field goes in front. */
export class Complaint extends Error {
  /** The same as a reason, where the name of the parameter alone is not enough, for example `it is too long`. */
  readonly reason: string | undefined

  constructor(message: string, reason?: string) {
    super(message)
    this.reason = reason
  }
}

/** What an endpoint is in every service; each adds what its own endpoints have. */
export interface EndpointBase<P extends Parameters> {
  /** For example `/v1/assets/:asset_id`. */
  readonly path: string
  /** Group in the documentation. */
  readonly tag: string
  readonly summary: string
  readonly parameters: P
}
