import { describeMembers, describeParameter } from '../../core/endpoint/index.ts'
import type { AttributeFamily } from '../request/index.ts'
import type { Endpoint } from '../endpoint/index.ts'
import type { Components, JsonObject } from './components.ts'

type NamedObject = JsonObject & { readonly name: string }

/** Describes the path and query parameters of an endpoint. Shared parameters become references. */
export function describeParameters(endpoint: Endpoint, components: Components): JsonObject[] {
  const own = Object.entries(endpoint.parameters).map(([name, parameter]) => {
    const described = describeParameter(name, parameter) as NamedObject
    return parameter.in === 'path' ? described : components.parameter(described)
  })
  const families = endpoint.attributes ?? []
  if (families.length === 0) return own
  return [...own, components.parameter(attributeParameter(families))]
}

/** Describes the parameters as members of a JSON body; undefined if the endpoint has no parameters. */
export function describeBody(endpoint: Endpoint): JsonObject | undefined {
  const properties = describeMembers(endpoint.parameters) as JsonObject
  if (Object.keys(properties).length === 0) return undefined
  const families = endpoint.attributes ?? []
  return {
    type: 'object',
    properties,
    ...(families.length === 0 ? {} : { patternProperties: { [attributePattern(families)]: attributeValue } }),
  }
}

const attributeValue: JsonObject = { type: ['string', 'number', 'boolean', 'array'] }

function attributePattern(families: readonly AttributeFamily[]): string {
  return `^(?:${families.join('|')})(?::(?:text|number|bool))?\\.`
}

/**
 * Describes the attribute filters. Their names are free, so OpenAPI describes them as one object whose members are
 * query parameters.
 */
function attributeParameter(families: readonly AttributeFamily[]): NamedObject {
  return {
    name: 'attributes',
    in: 'query',
    description:
      `Conditions on attributes, each in a separate parameter: \`FAMILY.KEY=value\`, where FAMILY is ` +
      `${families.map((family) => `\`${family}\``).join(', ')}. The value is compared as text; ` +
      '`FAMILY:number.KEY` and `FAMILY:bool.KEY` compare numbers and booleans. Several conditions must all hold.',
    style: 'form',
    explode: true,
    schema: {
      type: 'object',
      propertyNames: { pattern: attributePattern(families) },
      additionalProperties: { type: 'string' },
    },
    example: {},
  }
}
