import { readParameters } from '../../core/endpoint/index.ts'
import { repeatedParameter } from '../../core/http/headers/index.ts'
import type { NamedLists, Parameters, Values } from '../../core/endpoint/index.ts'
import { invalidParameter } from './request-error.ts'

/** An unparsed scalar: text from a query string; text, number or boolean from a JSON body. */
export type RawScalar = string | number | boolean

/** All values of a parameter: a scalar, or a list if it was repeated, bracketed, or a JSON array. */
export type RawValue = RawScalar | readonly RawScalar[]

/** Parameters of query string and body, merged; the body wins. */
export type RawParameters = ReadonlyMap<string, RawValue>

/** Sources of parameter values. */
interface RequestParts {
  /** Path parameters by name. */
  readonly path?: Readonly<Record<string, string>>
  readonly raw: RawParameters
  readonly lists: NamedLists
  /** Called with a sentence for each value that is replaced by the default or by another value. */
  readonly warn?: (sentence: string) => void
}

/**
 * Reads and checks every parameter of an endpoint. Path parameters cannot be overridden. Several values of a list
 * parameter are merged without duplicates. If a parameter takes no list, its last value counts, with a warning if the
 * values differ.
 * @throws RequestError 400 `Invalid value for parameter NAME` for the first invalid parameter.
 */
export function readRequest<P extends Parameters>(
  parameters: P,
  { path = {}, raw, lists, warn }: RequestParts,
): Promise<Values<P>> {
  return readParameters(parameters, {
    lists,
    find(name, parameter) {
      if (parameter.in === 'path') return path[name]
      const given = raw.get(name)
      if (typeof given !== 'object') return given
      const texts = [...new Set(given.map(String))].filter((text) => text !== '')
      if (parameter.list !== undefined) return texts.join(',')
      if (texts.length > 1) warn?.(repeatedParameter(name))
      return given.findLast((value) => value !== '')
    },
    refuse(name, { message, reason }) {
      throw invalidParameter(name, reason, `${name} ${message}`)
    },
    warn(name, { message }) {
      warn?.(`${name} ${message}; the default is used`)
    },
  })
}
