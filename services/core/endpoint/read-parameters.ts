import { Complaint } from './parameter.ts'
import type { NamedLists, Parameter, Parameters, Values } from './parameter.ts'

/** Input of `readParameters`. */
export interface Given {
  /** Returns the value that the request contains for a parameter; undefined if absent. */
  readonly find: (name: string, parameter: Parameter) => unknown
  readonly lists?: NamedLists
  /**
   * Called for each invalid value, in parameter order; may throw.
   * @param complaint its message describes the error, for example `is required`.
   */
  readonly refuse: (name: string, complaint: Complaint) => void
  /** Called for each value that is replaced by the parameter's default. */
  readonly warn?: (name: string, complaint: Complaint) => void
}

const noLists: NamedLists = () => Promise.resolve(undefined)

/** Suffix of the names of parameters that exclude rows. */
const EXCLUDING = '_blacklist'

/**
 * Refuses an unknown list in a parameter that excludes rows: without the list's items, the answer would
 * contain the rows that the client wants to exclude.
 */
function knownLists(lists: NamedLists): NamedLists {
  return async (list) => {
    const items = await lists(list)
    if (items) return items
    throw new Complaint('names an unknown list', `the server has no named list ${list}`)
  }
}

/** Parses and validates all parameters of an endpoint. Unknown parameters are ignored. */
export async function readParameters<P extends Parameters>(
  parameters: P,
  { find, lists = noLists, refuse, warn }: Given,
): Promise<Values<P>> {
  const values: Record<string, unknown> = {}
  let name = ''
  const warnOfIt = warn && ((complaint: Complaint) => warn(name, complaint))
  for (name in parameters) {
    const parameter = parameters[name]!
    try {
      const listsOfIt = name.endsWith(EXCLUDING) ? knownLists(lists) : lists
      const read = parameter.read(find(name, parameter), listsOfIt, warnOfIt)
      // `read` returns a promise only if the parameter accepts named lists.
      const value: unknown = read instanceof Promise ? await read : read
      if (value !== undefined) values[name] = value
    } catch (error) {
      if (!(error instanceof Complaint)) throw error
      refuse(name, error)
    }
  }
  return values as Values<P>
}

/** Copies parameter values without the parameters `names`, as if the request did not contain these parameters. */
export function without<V extends object, K extends keyof V>(values: V, names: readonly K[]): Omit<V, K> {
  const rest = { ...values }
  for (const name of names) Reflect.deleteProperty(rest, name)
  return rest
}

/** Copies the values of the parameters `names` only, as if the request contained no other parameter. */
export function pick<V extends object, K extends keyof V>(values: V, names: readonly K[]): Pick<V, K> {
  const picked: Partial<V> = {}
  for (const name of names) if (name in values) picked[name] = values[name]
  return picked as Pick<V, K>
}

/** Serialises parameter values; equal values give equal text, also if requests list the parameters in another order. */
export function valuesText(values: Values): string {
  return JSON.stringify(values, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}
