import type { Parameter, Parameters, Schema } from './parameter.ts'

/** Describes a parameter for OpenAPI. */
export function describeParameter(name: string, parameter: Parameter): Schema & { readonly name: string } {
  const { description, schema, isRequired, list } = parameter
  const isPath = parameter.in === 'path'
  return {
    name,
    in: isPath ? 'path' : 'query',
    ...(isPath ? { required: true } : {}),
    description,
    ...(isRequired === undefined ? {} : { required: isRequired }),
    schema,
    // OpenAPI describes a list parameter as comma-separated values; the endpoints also accept repeated parameters.
    ...(list === undefined ? {} : { style: isPath ? 'simple' : 'form', explode: false }),
  }
}

/** Describes the parameters as members of a JSON body, without path parameters. */
export function describeMembers(parameters: Parameters): Schema {
  return Object.fromEntries(
    Object.entries(parameters)
      .filter(([, parameter]) => parameter.in !== 'path')
      .map(([name, { schema, description }]) => [name, { ...schema, description }]),
  )
}

/** Builds an OpenAPI operation id from method and path, for example `getV1Assets`. */
export function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
