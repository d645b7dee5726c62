import { readParameters } from '../../core/endpoint/index.ts'
import { repeatedParameter } from '../../core/http/headers/index.ts'
import type { NamedLists, Parameters, Values } from '../../core/endpoint/index.ts'
import { invalidParameter } from './request-error.ts'

/** A scalar as it came: always text in a query string, possibly a number or boolean in a JSON body. */
export type RawScalar = string | number | boolean

/** All values of one parameter: one, or several when it was repeated, bracketed, or a JSON array. */
export type RawValue = RawScalar | readonly RawScalar[]

/** Query string and body of a request, merged; the body wins. */
export type RawParameters = ReadonlyMap<string, RawValue>

/** Sources of the values of parameters. */
interface RequestParts {
  /** Values in the path, by the name of the parameter. */
  readonly path?: Readonly<Record<string, string>>
  readonly raw: RawParameters
  readonly lists: NamedLists
  /** Is called with a sentence for each value that is replaced by the default of its parameter, or by another one. */
  readonly warn?: (sentence: string) => void
}

/**
 * Reads and checks every parameter of an endpoint; those of the path cannot be overridden. Several values are one comma
 * list, in which each is once; of a parameter that takes no list the last value counts, with a warning where they differ.
 * @throws RequestError 400 `Invalid value for parameter NAME`, for the first that is wrong.
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
