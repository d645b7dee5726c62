import { Complaint } from './parameter.ts'
import type { NamedLists, Parameter, Parameters, Values } from './parameter.ts'

/** What a request gives. */
export interface Given {
  /** What stands for a parameter; undefined when it is absent. */
  readonly find: (name: string, parameter: Parameter) => unknown
  readonly lists?: NamedLists
  /**
   * Called for each value that cannot be used, in the order of the parameters; may throw.
   * @param complaint its message says what is wrong, for example `is required`.
   */
  readonly refuse: (name: string, complaint: Complaint) => void
  /** Called for each value that is replaced by the default of its parameter. */
  readonly warn?: (name: string, complaint: Complaint) => void
}

const noLists: NamedLists = () => Promise.resolve([])

/** Reads and checks every parameter of an endpoint. What the endpoint does not know is ignored. */
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
      const read = parameter.read(find(name, parameter), lists, warnOfIt)
      // Only named lists have to be waited for.
      const value: unknown = read instanceof Promise ? await read : read
      if (value !== undefined) values[name] = value
    } catch (error) {
      if (!(error instanceof Complaint)) throw error
      refuse(name, error)
    }
  }
  return values as Values<P>
}

/** The same values without some of them, as if they had not been given. */
export function without<V extends object, K extends keyof V>(values: V, names: readonly K[]): Omit<V, K> {
  const rest = { ...values }
  for (const name of names) Reflect.deleteProperty(rest, name)
  return rest
}

/** The same values without the others, as if those had not been given. */
export function pick<V extends object, K extends keyof V>(values: V, names: readonly K[]): Pick<V, K> {
  const picked: Partial<V> = {}
  for (const name of names) if (name in values) picked[name] = values[name]
  return picked as Pick<V, K>
}

/** One text for each set of values of an endpoint, whatever the order in which they were given. */
export function valuesText(values: Values): string {
  return JSON.stringify(values, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}
