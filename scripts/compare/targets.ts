import type { Form } from '../../services/core/endpoint/index.ts'
import type { DocumentedParameter, JsonSchema, OpenApiDocument } from './document.ts'
import { parametersOf } from './document.ts'
import type { Target } from './requests/hostile.ts'

/** An endpoint as the document describes it. */
export interface DocumentedTarget extends Target {
  /** Path in the document, for example `/assets/v1/assets/{asset_id}`. */
  readonly documentPath: string
  /** Whether it has filters on attributes, such as `data.level`. */
  readonly hasAttributes: boolean
  /** Whether it reads parameters from a body. */
  readonly takesBody: boolean
  /** Whether it answers about the server itself, so that only the types of its answers can be compared. */
  readonly isVolatile: boolean
}

/** Parameter in which the document describes filters on attributes. */
const ATTRIBUTES = 'attributes'

/** Every endpoint that a document describes and that answers JSON. */
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

/** How the values of a parameter are written, by its schema. */
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
