import { describeMembers, describeParameter } from '../../core/endpoint/index.ts'
import type { AttributeFamily } from '../request/index.ts'
import type { Endpoint } from '../endpoint/index.ts'
import type { Components, JsonObject } from './components.ts'

type NamedObject = JsonObject & { readonly name: string }

/** Path and query parameters of an endpoint; shared parameters as references. */
export function describeParameters(endpoint: Endpoint, components: Components): JsonObject[] {
  const own = Object.entries(endpoint.parameters).map(([name, parameter]) => {
    const described = describeParameter(name, parameter) as NamedObject
    return parameter.in === 'path' ? described : components.parameter(described)
  })
  const families = endpoint.attributes ?? []
  if (families.length === 0) return own
  return [...own, components.parameter(attributeParameter(families))]
}

/** The parameters as members of a JSON body; undefined if the endpoint takes none. */
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

/** Attribute filters have free names. OpenAPI describes them as one object whose members are query parameters. */
function attributeParameter(families: readonly AttributeFamily[]): NamedObject {
  return {
    name: 'attributes',
    in: 'query',
    description:
      `Conditions on attributes, each its own parameter: \`FAMILY.KEY=value\`, where FAMILY is ` +
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
