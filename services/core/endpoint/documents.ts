import type { Parameter, Parameters, Schema } from './parameter.ts'

/** A parameter as OpenAPI describes it. */
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
    // Several values are one comma list; repeated parameters are understood as well.
    ...(list === undefined ? {} : { style: isPath ? 'simple' : 'form', explode: false }),
  }
}

/** The parameters as members of a JSON body, those of the path left out. */
export function describeMembers(parameters: Parameters): Schema {
  return Object.fromEntries(
    Object.entries(parameters)
      .filter(([, parameter]) => parameter.in !== 'path')
      .map(([name, { schema, description }]) => [name, { ...schema, description }]),
  )
}

/** Words of a path as the id of an operation, for example `getV1Assets`. */
export function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
