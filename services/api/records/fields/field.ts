import { shape } from '../../endpoint/index.ts'
import type { RecordSchema } from '../../endpoint/index.ts'
import { shapeOf } from './members.ts'
import type { Constant, Field, Given, ObjectMember } from './members.ts'

export function text(sql: string, description: string): Field {
  return json(`to_json(${sql})`, shape.text(description))
}

/** An account name or another name of the chain: its characters need no escaping in JSON. */
export function name(sql: string, description: string): Field {
  return { schema: shape.text(description), sql, isQuoted: true }
}

/** A name that may be an empty text. The empty text is not null. */
export function emptyName(sql: string, description: string): Field {
  return json(`'"' || ${sql} || '"'`, shape.text(description))
}

/** A 64-bit integer as a decimal string. */
export function decimal(sql: string, description: string): Field {
  return { schema: shape.decimal(description), sql, isQuoted: true }
}

/** Milliseconds since 1970 as a decimal string. */
export function time(sql: string, description: string): Field {
  return { schema: shape.time(description), sql, isQuoted: true }
}

export function integer(sql: string, description: string): Field {
  return json(sql, shape.integer(description))
}

export function number(sql: string, description: string): Field {
  return json(sql, shape.number(description))
}

export function flag(sql: string, description: string): Field {
  return json(`(${sql})::text`, shape.flag(description))
}

/** A field whose value is a map of attributes. Without attributes the JSON is `{}`. */
export function attributes(sql: string, description: string): Field {
  return { ...json(sql, shape.attributes(description)), empty: '{}' }
}

/** A transaction id from a `bytea` column. */
export function transaction(sql: string): Field {
  const schema: RecordSchema = { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Transaction' }
  return { schema, sql: `encode(${sql}, 'hex')`, isQuoted: true }
}

/** A field whose SQL already returns JSON. */
export function json(sql: string, schema: RecordSchema): Field {
  return { schema, sql, isQuoted: false }
}

/** An object whose members are columns of the row. */
export function object(members: ObjectMember['object'], description?: string): ObjectMember {
  return { schema: shape.object(shapeOf(members), description), object: members }
}

/** A field whose value is a JSON array. Without items the JSON is `[]`. */
export function list(sql: string, items: RecordSchema, description?: string): Field {
  return { ...json(sql, shape.list(items, description)), empty: '[]' }
}

/** Lets a field be null. Without a value the JSON is `null`. */
export function nullable(field: Field): Field {
  return { ...field, schema: shape.nullable(field.schema), empty: 'null' }
}

/** A value from history: null if the event happened before the first block of the reader's history. */
export function ofHistory(field: Field): Field {
  return { ...field, schema: shape.ofHistory(field.schema), isHistory: true }
}

/** Member with the account of a contract, which the configuration names. */
export function contract(given: string, description: string): Given {
  return { given, schema: shape.text(description) }
}

/** A member that has the same JSON value in every record. */
export function constant(value: string, schema: RecordSchema): Constant {
  return { json: value, schema }
}

/**
 * Member of configuration records: the first block with complete history. Absent if the history is complete from the
 * first indexed block on.
 */
export function historySince(family: 'assets' | 'market' | 'tools'): Field {
  return decimal(
    `(SELECT i.history_since FROM chain.imports i
      JOIN chain.sources s ON s.reader = i.reader AND s.family = '${family}' WHERE i.history_since IS NOT NULL)`,
    'First block with complete history: logs, transfers, trades and times before this block are not known. Absent if the history is complete',
  )
}
