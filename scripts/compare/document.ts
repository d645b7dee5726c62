/** The members of an OpenAPI document from which requests are generated. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly contact?: unknown }
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, { readonly get: Operation; readonly post?: Operation }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly parameters: Readonly<Record<string, DocumentedParameter>>
  }
}

/** An operation of the OpenAPI document: one HTTP method of one path. */
export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly parameters: readonly (DocumentedParameter | { readonly $ref: string })[]
  readonly responses: Readonly<Record<string, unknown>>
}

/** A parameter in path or query. */
export interface DocumentedParameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly schema: JsonSchema
}

/** The keywords of a JSON Schema from which values are generated. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly (string | number)[]
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly [keyword: string]: unknown
}

/** The parameters of an operation, with references resolved. */
export function parametersOf(document: OpenApiDocument, operation: Operation): DocumentedParameter[] {
  return operation.parameters.map((parameter) => {
    if (!('$ref' in parameter)) return parameter
    return document.components.parameters[parameter.$ref.replace('#/components/parameters/', '')]!
  })
}

/** Creates a function that finds the document's path for a requested path. Literal segments win over parameters. */
export function createPathFinder(document: OpenApiDocument): (requested: string) => string | undefined {
  const paths = Object.keys(document.paths).sort(
    (a, b) => (a.match(/\{/g) ?? []).length - (b.match(/\{/g) ?? []).length,
  )
  const patterns = paths.map((path) => [path, patternOf(path)] as const)
  return (requested) => patterns.find(([, pattern]) => pattern.test(requested))?.[0]
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, 'i')
}
