import { greatestLength, MAX_GIVEN_ITEMS } from '../endpoint/index.ts'
import type { AttributeFamily, Endpoint, Parameter } from '../endpoint/index.ts'
import type { Components, JsonObject, JsonValue } from './components.ts'

type NamedObject = JsonObject & { readonly name: string }

const ID = '-?[0-9]+'
const NAME = '(?:[a-z1-5.]{1,12}|[a-z1-5.]{12}[a-j1-5.])'
const NAMED_LIST = '\\$list:.+'

/** The parameters of an endpoint in path and query, shared ones as references. */
export function describeParameters(endpoint: Endpoint, components: Components): JsonObject[] {
  const own = endpoint.parameters.map((parameter) => {
    const described = describeParameter(parameter)
    return parameter.in === 'path' ? described : components.parameter(described)
  })
  const families = endpoint.attributes ?? []
  if (families.length === 0) return own
  return [...own, components.parameter(attributeParameter(families))]
}

/** The same parameters as members of a JSON body; undefined for an endpoint that takes none. */
export function describeBody(endpoint: Endpoint): JsonObject | undefined {
  const parameters = endpoint.parameters.filter((parameter) => parameter.in !== 'path')
  if (parameters.length === 0) return undefined
  const properties = parameters.map((parameter): [string, JsonObject] => [
    parameter.name,
    { ...valueSchema(parameter), description: parameter.description },
  ])
  const families = endpoint.attributes ?? []
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(families.length === 0 ? {} : { patternProperties: { [attributePattern(families)]: attributeValue } }),
  }
}

function describeParameter(parameter: Parameter): NamedObject {
  const isPath = parameter.in === 'path'
  return {
    name: parameter.name,
    in: isPath ? 'path' : 'query',
    ...(isPath ? { required: true } : {}),
    description: parameter.description,
    schema: valueSchema(parameter),
    // Several values are one comma list; repeated parameters are understood as well.
    ...(parameter.list === undefined ? {} : { style: isPath ? 'simple' : 'form', explode: false }),
  }
}

function valueSchema(parameter: Parameter): JsonObject {
  const element = elementSchema(parameter)
  if (parameter.list === undefined) return { ...element, ...defaultOf(parameter) }
  return { type: 'array', items: element, maxItems: MAX_GIVEN_ITEMS, ...defaultOf(parameter) }
}

function elementSchema(parameter: Parameter): JsonObject {
  const { type, minimum, maximum, values } = parameter
  switch (type) {
    case 'int':
      return {
        type: 'integer',
        minimum: minimum ?? Number.MIN_SAFE_INTEGER,
        maximum: maximum ?? Number.MAX_SAFE_INTEGER,
      }
    case 'id':
      return { type: 'string', pattern: elementPattern(parameter, ID) }
    case 'decimal':
      return {
        type: 'number',
        ...(minimum === undefined ? {} : { minimum }),
        ...(maximum === undefined ? {} : { maximum }),
      }
    case 'bool':
      return { type: 'boolean' }
    case 'name':
      return { type: 'string', pattern: elementPattern(parameter, NAME) }
    case 'string':
      return {
        type: 'string',
        ...(minimum === undefined ? {} : { minLength: minimum }),
        ...(values === undefined ? { maxLength: greatestLength(parameter) } : { enum: values }),
      }
  }
}

function elementPattern({ list, nullable }: Parameter, own: string): string {
  const forms = [own, ...(nullable ? ['null'] : []), ...(list === 'named' ? [NAMED_LIST] : [])]
  return forms.length === 1 ? `^${own}$` : `^(?:${forms.join('|')})$`
}

function defaultOf({ type, list, default: text }: Parameter): JsonObject {
  if (text === undefined) return {}
  if (list !== undefined) return { default: text.split(',') }
  const isNumber = type === 'int' || type === 'decimal'
  const value: JsonValue = isNumber ? Number(text) : type === 'bool' ? text === 'true' : text
  return { default: value }
}

const attributeValue: JsonObject = { type: ['string', 'number', 'boolean', 'array'] }

function attributePattern(families: readonly AttributeFamily[]): string {
  return `^(?:${families.join('|')})(?::(?:text|number|bool))?\\.`
}

/** OpenAPI spells parameters with free names as one object whose members are spread over the query. */
function attributeParameter(families: readonly AttributeFamily[]): NamedObject {
  return {
    name: 'attributes',
    in: 'query',
    description:
      `Conditions on attributes, each a parameter of its own: \`FAMILY.KEY=value\`, where FAMILY is ` +
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
