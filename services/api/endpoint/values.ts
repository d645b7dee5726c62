import { FatalError } from '../../core/errors/index.ts'

/** A parameter after validation; `null` is the literal id `null`. */
export type ParsedValue = number | bigint | boolean | string | readonly bigint[] | readonly string[] | null

/**
 * The validated parameters of a request. A getter returns undefined when the parameter is absent.
 * Asking for one under the wrong type is a mistake in the program and throws.
 */
export class Values {
  readonly #values: ReadonlyMap<string, ParsedValue>
  readonly #mentioned: ReadonlySet<string>

  /** @param mentioned names of the noted parameters that the request has, empty ones included. */
  constructor(values: ReadonlyMap<string, ParsedValue>, mentioned: ReadonlySet<string> = new Set()) {
    this.#values = values
    this.#mentioned = mentioned
  }

  int(name: string): number | undefined {
    const value = this.#values.get(name)
    return value === undefined || typeof value === 'number' ? value : misread(name)
  }

  id(name: string): bigint | undefined {
    const value = this.#values.get(name)
    return value === undefined || typeof value === 'bigint' ? value : misread(name)
  }

  bool(name: string): boolean | undefined {
    const value = this.#values.get(name)
    return value === undefined || typeof value === 'boolean' ? value : misread(name)
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name)
    return value === undefined || typeof value === 'string' ? value : misread(name)
  }

  /** A list of ids; an empty list was given and matches nothing. Undefined also when the value is `null`. */
  ids(name: string): readonly bigint[] | undefined {
    const value = this.#values.get(name)
    if (value === undefined || value === null) return undefined
    return Array.isArray(value) ? (value as readonly bigint[]) : misread(name)
  }

  /** A list of names or texts; an empty list was given and matches nothing. */
  texts(name: string): readonly string[] | undefined {
    const value = this.#values.get(name)
    if (value === undefined) return undefined
    return Array.isArray(value) ? (value as readonly string[]) : misread(name)
  }

  /** True when the parameter was given as the literal `null`. */
  isNull(name: string): boolean {
    return this.#values.get(name) === null
  }

  /** The same without some parameters, as if they had not been given. */
  without(names: readonly string[]): Values {
    const kept = [...this.#values].filter(([name]) => !names.includes(name))
    return new Values(new Map(kept), this.#mentioned)
  }

  /** True when the request has the parameter, even if empty, which counts as absent everywhere else. */
  mentions(name: string): boolean {
    return this.#mentioned.has(name)
  }

  /** True when the parameter was given (or has a default). */
  has(name: string): boolean {
    return this.#values.has(name)
  }

  /** One text for each set of values, whatever the order in which they were given; noted ones that are empty are named. */
  toText(): string {
    const empty = [...this.#mentioned]
      .filter((name) => !this.#values.has(name))
      .map((name) => [name] as const)
    const entries = [...this.#values, ...empty].sort(([one], [other]) => (one < other ? -1 : 1))
    return JSON.stringify(entries, (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
  }

  /** Names of the parameters that were given or have a default. */
  names(): string[] {
    return [...this.#values.keys()]
  }
}

function misread(name: string): never {
  throw new FatalError('INTERNAL', `parameter ${name} is read as another type`)
}
