/** How the text of a parameter is read. */
export type ParameterType = 'int' | 'id' | 'bool' | 'name' | 'string' | 'decimal'

/** One parameter of an endpoint, as data: validation and documentation come from it. */
export interface Parameter {
  readonly name: string
  readonly type: ParameterType
  /** That it was given matters even where it is empty, which counts as absent otherwise. */
  readonly isNoted?: boolean
  readonly description: string
  /** Where it comes from: a segment of the path, or query string and body together (default). */
  readonly in?: 'path'
  /**
   * `comma`: several values separated by commas. `named`: the same, and an element `$list:NAME` stands for the items
   * of a named list.
   */
  readonly list?: 'comma' | 'named'
  /** Text that is taken when the parameter is absent. */
  readonly default?: string
  /** Smallest value of an int or decimal; smallest length of a string. */
  readonly minimum?: number
  /** Largest value of an int; greatest length of a string, of each of its items where it is a list. */
  readonly maximum?: number
  /** The only allowed texts. */
  readonly values?: readonly string[]
  /** A text that is not among `values` counts as absent instead of being refused. */
  readonly lenient?: boolean
  /** The single value `null` is meaningful (ids only). */
  readonly nullable?: boolean
}

/** Greatest length of a text that says nothing else: longer than any key, hash or name that the chain knows. */
const DEFAULT_LENGTH = 128
/** Greatest length of a memo; the contracts take no longer one. */
export const MEMO_LENGTH = 256
/** Greatest length of words to search for: what they cost grows with their number. */
export const SEARCH_LENGTH = 100
/** Letters of an account's name. */
const NAME_LENGTH = 13
/** Digits of a number; the longest has 20, and clients may put zeros before it. */
const NUMBER_LENGTH = 64

/** Greatest length of the text of a parameter, of each of its items where it is a list. */
export function greatestLength({ type, maximum }: Pick<Parameter, 'type' | 'maximum'>): number {
  if (type === 'name') return NAME_LENGTH
  return type === 'string' ? (maximum ?? DEFAULT_LENGTH) : NUMBER_LENGTH
}

/** A scalar as it came: always text in a query string, possibly a number or boolean in a JSON body. */
export type RawScalar = string | number | boolean

/** All values of one parameter: one, or several when it was repeated, bracketed, or a JSON array. */
export type RawValue = RawScalar | readonly RawScalar[]

/** Query string and body of a request, merged; the body wins. */
export type RawParameters = ReadonlyMap<string, RawValue>
