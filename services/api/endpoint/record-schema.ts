/**
 * Shape of a value in an answer: the keywords of JSON Schema (draft 2020-12) that answers need. A schema with a `title`
 * is a record: the OpenAPI document has it as a component, and nested uses refer to this component.
 */
export interface RecordSchema {
  /** Name of a record, unique within its namespace. */
  readonly title?: string
  readonly description?: string
  readonly type?: JsonType | readonly JsonType[]
  readonly pattern?: string
  readonly const?: string | number | boolean
  readonly enum?: readonly (string | number)[]
  readonly minimum?: number
  readonly items?: RecordSchema
  readonly properties?: Readonly<Record<string, RecordSchema>>
  /** Names of the properties that are always present. The value of such a property may be null. */
  readonly required?: readonly string[]
  readonly additionalProperties?: RecordSchema
  readonly anyOf?: readonly RecordSchema[]
}

type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null'

/** Members of an object by name; a member whose name ends in `?` may be absent. */
export type Members = Readonly<Record<string, RecordSchema>>

export type NamedSchema = RecordSchema & { readonly title: string }

export function text(description: string): RecordSchema {
  return { type: 'string', description }
}

/** A text that is one of `values`. */
export function choice(description: string, values: readonly string[]): RecordSchema {
  return { type: 'string', enum: values, description }
}

/** A 64-bit integer as a decimal string: ids, sequence numbers, supplies, counts, amounts, block numbers. */
export function decimal(description: string): RecordSchema {
  return { type: 'string', pattern: '^-?[0-9]+$', description }
}

/** A time as a decimal string of milliseconds since 1970. */
export function time(description: string): RecordSchema {
  return { type: 'string', pattern: '^[0-9]+$', description: `${description}, ms since 1970` }
}

/** An integer, written as a JSON number. */
export function integer(description: string): RecordSchema {
  return { type: 'integer', description }
}

export function number(description: string): RecordSchema {
  return { type: 'number', description }
}

export function flag(description: string): RecordSchema {
  return { type: 'boolean', description }
}

/** A list whose items have the schema `items`. */
export function list(items: RecordSchema, description?: string): RecordSchema {
  return { type: 'array', items, ...(description === undefined ? {} : { description }) }
}

/** A value that matches at least one of the schemas. */
export function anyOf(options: readonly RecordSchema[], description?: string): RecordSchema {
  return { anyOf: options, ...(description === undefined ? {} : { description }) }
}

/** Allows null in place of the value. The property is present in both cases. */
export function nullable(schema: RecordSchema): RecordSchema {
  if (schema.title === undefined && typeof schema.type === 'string' && schema.enum === undefined) {
    return { ...schema, type: [schema.type, 'null'] }
  }
  return { anyOf: [schema, { type: 'null' }] }
}

/** Schema of an object that is no component of the OpenAPI document. The document repeats such a schema at each use. */
export function object(members: Members, description?: string): RecordSchema {
  const names = Object.keys(members)
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), members[name]!])),
    required: names.filter((name) => !name.endsWith('?')),
  }
}

/** A record: an object with its own name in the documentation. */
export function record(title: string, description: string, members: Members): NamedSchema {
  return { title, ...object(members, description) }
}

/** Declares a value from history: null if the event happened before the first block of the reader's history. */
export function ofHistory(schema: RecordSchema): RecordSchema {
  const { description = '' } = schema
  return nullable({
    ...schema,
    description: `${description}; null for an event before block history_since_block of /v1/config`,
  })
}

/**
 * Declares a record with the members of another record and further members. A further member replaces a member of the
 * same name.
 */
export function extend(
  base: RecordSchema,
  title: string,
  description: string,
  members: Members,
): NamedSchema {
  const more = object(members)
  const replaced = new Set(Object.keys(more.properties!))
  return {
    title,
    description,
    type: 'object',
    properties: { ...base.properties, ...more.properties },
    required: [...(base.required ?? []).filter((name) => !replaced.has(name)), ...more.required!],
  }
}

/** An object of attributes. A schema of the contract defines the names, so the object may have any members. */
export function attributes(description: string): RecordSchema {
  return { type: 'object', additionalProperties: attributeValue, description }
}

/**
 * Value of an attribute. A 64-bit integer is a decimal string, a boolean 0 or 1, and a float that is not finite null.
 */
export const attributeValue: NamedSchema = {
  title: 'AttributeValue',
  description:
    'Value of an attribute: text; a number; a decimal string for integers of 64 bits; 0 or 1 for booleans; null for a ' +
    'float that is not finite; or a list of these.',
  type: ['string', 'number', 'null', 'array'],
  items: { type: ['string', 'number', 'null'] },
}

/** Number of rows, the answer of `_count` endpoints and of `count=true`. */
export const rowCount: NamedSchema = {
  title: 'RowCount',
  description: 'Number of matching rows, as a decimal string.',
  type: 'string',
  pattern: '^[0-9]+$',
}

/** Name of a schema in the documentation, for example `Asset[]`. */
export function schemaName({ title, type, items }: RecordSchema): string {
  if (title !== undefined) return title
  if (items) return `${schemaName(items)}[]`
  return typeof type === 'string' ? type : 'value'
}
