import type { Form } from '../../services/core/endpoint/index.ts'
import type { DocumentedParameter, JsonSchema, OpenApiDocument } from './document.ts'
import { parametersOf } from './document.ts'
import type { Target } from './requests/hostile.ts'

/** An endpoint, as the OpenAPI document describes it. */
export interface DocumentedTarget extends Target {
  /** Path in the document, for example `/assets/v1/assets/{asset_id}`. */
  readonly documentPath: string
  /** Whether the endpoint has attribute filters, such as `data.level`. */
  readonly hasAttributes: boolean
  /** Whether the endpoint reads parameters from a body. */
  readonly takesBody: boolean
  /**
   * Whether the answer describes the server itself. Such answers of two servers agree only in the types of their
   * values.
   */
  readonly isVolatile: boolean
}

/** Name of the document's parameter that describes attribute filters. */
const ATTRIBUTES = 'attributes'

/** All documented endpoints that return JSON. */
export function targetsOf(document: OpenApiDocument): DocumentedTarget[] {
  return Object.entries(document.paths)
    .filter(([, { get }]) => JSON.stringify(get.responses['200']).includes('application/json'))
    .map(([path, { get, post }]) => {
      const parameters = parametersOf(document, get)
      const own = parameters.filter(({ name }) => name !== ATTRIBUTES)
      return {
        documentPath: path,
        prefix: '',
        endpoint: {
          path: path.replaceAll(/\{(\w+)\}/g, ':$1'),
          parameters: Object.fromEntries(own.map((parameter) => [parameter.name, formOf(parameter)])),
        },
        hasAttributes: own.length < parameters.length,
        takesBody: post !== undefined,
        isVolatile: get.tags.includes('server'),
      }
    })
}

/** Value format of a parameter, derived from its schema. */
function formOf({ in: place, schema }: DocumentedParameter): Form & { readonly in?: 'path' } {
  const element = schema.type === 'array' ? (schema.items as JsonSchema) : schema
  const minimum = element.minimum ?? element.minLength
  return {
    type: typeOf(element),
    ...(schema.type === 'array' ? { list: 'comma' } : {}),
    ...(typeof minimum === 'number' ? { minimum } : {}),
    ...(element.maximum === undefined ? {} : { maximum: element.maximum }),
    ...(element.enum === undefined ? {} : { values: element.enum.map(String) }),
    ...(place === 'path' ? { in: 'path' } : {}),
  }
}

function typeOf({ type, pattern }: JsonSchema): string {
  if (type === 'integer') return 'int'
  if (type === 'number') return 'decimal'
  if (type === 'boolean') return 'bool'
  if (typeof pattern !== 'string') return 'string'
  return pattern.includes('[0-9]+') ? 'id' : 'name'
}
