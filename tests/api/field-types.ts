import type { JsonSchema, OpenApiDocument } from '../../scripts/compare/document.ts'

/** Type of attribute values: the schema of a contract determines them, so they may have any JSON type. */
const FREE = 'AttributeValue'

/** Action data of an event: the contract determines its members. */
const ACTION_DATA = /^Live\w+\.action\.data$/

/** Record fields of an OpenAPI document whose values have several JSON types, not counting null. */
export function fieldsOfSeveralTypes(document: OpenApiDocument): string[] {
  const found: string[] = []
  const { schemas } = document.components
  const typesOf = (schema: JsonSchema): string[] => {
    if (typeof schema.$ref === 'string') {
      const name = schema.$ref.replace('#/components/schemas/', '')
      return name === FREE ? [FREE] : typesOf(schemas[name]!)
    }
    if (Array.isArray(schema.anyOf)) return (schema.anyOf as JsonSchema[]).flatMap(typesOf)
    if ('const' in schema) return [typeof schema.const]
    if (schema.type === undefined) return ['anything']
    const types = typeof schema.type === 'string' ? [schema.type] : schema.type
    return types.map((type) => (type === 'integer' ? 'number' : type))
  }
  const look = (schema: JsonSchema, place: string): void => {
    const types = new Set(typesOf(schema).filter((type) => type !== 'null'))
    if (types.size > 1 || types.has('anything')) found.push(`${place}: ${[...types].sort().join(' or ')}`)
  }
  const walk = (schema: JsonSchema, place: string): void => {
    for (const [name, each] of Object.entries(schema.properties ?? {})) {
      look(each, `${place}.${name}`)
      walk(each, `${place}.${name}`)
    }
    for (const each of (schema.anyOf ?? []) as JsonSchema[]) walk(each, place)
    const items = schema.items as JsonSchema | undefined
    if (items) {
      look(items, `${place}[]`)
      walk(items, `${place}[]`)
    }
  }
  for (const [name, schema] of Object.entries(schemas)) {
    if (name !== FREE && !name.endsWith('Query')) walk(schema, name)
  }
  return found.filter((each) => !ACTION_DATA.test(each.split(':', 1)[0]!))
}
