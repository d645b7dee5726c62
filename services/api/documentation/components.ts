import type { RecordSchema } from '../endpoint/index.ts'

/** A JSON object in an OpenAPI document. */
export interface JsonObject {
  [key: string]: JsonValue | undefined
}
/** A value in an OpenAPI document. Members that are undefined are omitted. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

/**
 * Shared components of an OpenAPI document, referred to by name. Equal components are stored once. If two namespaces
 * have different records of the same name, the name of the second record gets its namespace as prefix.
 */
export class Components {
  readonly #byName = {
    schemas: new Map<string, JsonObject>(),
    parameters: new Map<string, JsonObject>(),
    responses: new Map<string, JsonObject>(),
  }
  /** Names of the components that are already in the document, by kind, wanted name and content. */
  readonly #known = new Map<string, string>()
  readonly #records = new Map<RecordSchema, JsonObject>()

  /**
   * Adds a component and returns a reference to it.
   * @param owner namespace that the component belongs to.
   */
  refer(kind: 'schemas' | 'responses', name: string, content: JsonObject, owner: string): JsonObject {
    const key = JSON.stringify([kind, name, content])
    let known = this.#known.get(key)
    if (known === undefined) {
      known = this.#freeName(kind, name, owner)
      this.#known.set(key, known)
      this.#byName[kind].set(known, content)
    }
    return { $ref: `#/components/${kind}/${known}` }
  }

  /**
   * Returns a reference to a shared parameter. The first parameter of each name is shared; a parameter of the same name
   * with other content is returned as is.
   */
  parameter(content: JsonObject & { readonly name: string }): JsonObject {
    const usual = this.#byName.parameters.get(content.name)
    if (!usual) this.#byName.parameters.set(content.name, content)
    else if (JSON.stringify(usual) !== JSON.stringify(content)) return content
    return { $ref: `#/components/parameters/${content.name}` }
  }

  /** Converts a schema. A schema with a title becomes a component. */
  schema(schema: RecordSchema, owner: string): JsonObject {
    const made = this.#records.get(schema)
    if (made) return made
    const { title, items, properties, additionalProperties, anyOf, ...keywords } = schema
    const content: JsonObject = {
      ...keywords,
      ...(items ? { items: this.schema(items, owner) } : {}),
      ...(properties ? { properties: mapValues(properties, (each) => this.schema(each, owner)) } : {}),
      ...(additionalProperties ? { additionalProperties: this.schema(additionalProperties, owner) } : {}),
      ...(anyOf ? { anyOf: anyOf.map((each) => this.schema(each, owner)) } : {}),
    }
    if (title === undefined) return content
    const reference = this.refer('schemas', title, content, owner)
    this.#records.set(schema, reference)
    return reference
  }

  /** Builds the `components` member of the OpenAPI document, sorted by name. */
  toJson(): JsonObject {
    return mapValues(this.#byName, (parts) =>
      Object.fromEntries([...parts].sort(([a], [b]) => (a < b ? -1 : 1))),
    )
  }

  #freeName(kind: 'schemas' | 'responses', name: string, owner: string): string {
    const taken = this.#byName[kind]
    const own = owner.charAt(0).toUpperCase() + owner.slice(1)
    const candidates = [name, `${own}.${name}`]
    for (let number = 2; ; number++) {
      const free = candidates.find((candidate) => !taken.has(candidate))
      if (free !== undefined) return free
      candidates.push(`${own}.${name}.${number}`)
    }
  }
}

function mapValues<From>(
  values: Readonly<Record<string, From>>,
  change: (value: From) => JsonObject,
): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]))
}
