import { packFields, packRows, unpackRows } from '../../database/index.ts'
import { shape } from '../../endpoint/index.ts'
import type { Members, NamedSchema, RecordSchema } from '../../endpoint/index.ts'
import type { Json } from '../../json/index.ts'

/** A member whose value is a column: its JSON schema, the SQL of the value, and the conversion of the text to JSON. */
export interface Field {
  readonly schema: RecordSchema
  /** SQL of the value. PostgreSQL returns the value as text, and null as empty text. */
  readonly sql: string
  /** Whether the text is put into quotes without escaping. Otherwise the text is JSON already. */
  readonly isQuoted: boolean
  /** JSON for an empty text. If undefined, the text is never empty. */
  readonly empty?: string
  /**
   * Whether the value 0 means that the event happened before the first block of the reader's history. The JSON is then
   * null.
   */
  readonly isHistory?: boolean
}

/** A member whose JSON is the same for a whole page and is known before the page is read. */
export interface Given {
  readonly schema: RecordSchema
  /** Name of the member's JSON in `Parts.given`. */
  readonly given: string
}

/** A member with the same JSON in every record. */
export interface Constant {
  readonly schema: RecordSchema
  readonly json: string
}

/** An object whose members are columns of the record's row. */
export interface ObjectMember {
  readonly schema: RecordSchema
  readonly object: Readonly<Record<string, Field | Given | Constant>>
}

/**
 * A group of members whose JSON the function `write` returns. `write` gets the values of `columns`, and the fragments of
 * the rows that many records share. The JSON is never empty.
 */
export interface Group<P = Parts> {
  readonly members: Members
  readonly write: (parts: P, ...values: readonly string[]) => Json
  /** SQL of the values from which the members are written. */
  readonly columns?: readonly string[]
  /** Whether `write` returns a text. The text is joined with the text of the neighbouring members. */
  readonly isText?: boolean
}

/** Input for writing members, in addition to the columns of the row. */
export interface Parts {
  /** JSON values that are equal for all records. Members refer to a value by its name. */
  readonly given: Readonly<Record<string, string>>
}

/**
 * Members of a record in the order of the JSON text. A `Group` contributes its members; the name of the group is not
 * written. A field whose name ends in `?` is absent if it has no value. The first member must not be such a field,
 * because a comma precedes every later member.
 */
export type RecordMembers<P = Parts> = Readonly<
  Record<string, Field | Given | Constant | ObjectMember | Group<P>>
>

/** Members compiled to a list of columns and functions that write JSON. */
export interface Compiled<P = Parts> {
  /** SQL of the columns that a row of the query has. */
  readonly columns: readonly string[]
  /** Writes the members with the braces of the object. */
  readonly record: (row: readonly string[], parts: P) => Json
  /** Writes the members without braces. */
  readonly text: (row: readonly string[], parts: P) => Json
}

/** JSON schemas of the members of a record, by member name. */
export function shapeOf<P>(members: RecordMembers<P>): Members {
  const shapes = Object.entries(members).map(([name, member]): Members =>
    'members' in member ? member.members : { [name]: member.schema },
  )
  return Object.assign({}, ...shapes) as Members
}

/** A record whose rows are read by the statement of an endpoint. */
export interface PlainRecord {
  readonly schema: NamedSchema
  /** SQL of one packed row. */
  readonly packed: string
  /**
   * SQL of the packed rows of a query.
   * @param order ORDER BY clause of the rows, without the keyword.
   */
  readonly rows: (order: string) => string
  /** Converts packed rows to JSON. */
  readonly read: (packed: string | null | undefined, given?: Parts['given']) => string[]
}

/** Declares a record that consists of columns only. */
export function declareRecord(
  title: string,
  description: string,
  members: Readonly<Record<string, Field | Given | Constant | ObjectMember>>,
): PlainRecord {
  const { columns, record } = compileMembers(members)
  return {
    schema: shape.record(title, description, shapeOf(members)),
    packed: packFields(columns),
    rows: (order) => packRows(columns, order),
    read: (packed, given = {}) => unpackRows(packed).map((row) => record(row, { given }) as string),
  }
}

/**
 * Generates the function that writes members. The generated function takes 40 % less time than a loop over the members.
 * @param leading columns that precede the columns of the members.
 */
export function compileMembers<P = Parts>(
  members: RecordMembers<P>,
  leading: readonly string[] = [],
): Compiled<P> {
  const columns = [...leading]
  const groups: Group<P>['write'][] = []
  const columnOf = (sql: string): number => {
    const known = columns.indexOf(sql)
    return known >= 0 ? known : columns.push(sql) - 1
  }
  const codes = Object.entries(members).map(([name, member], index) => {
    const comma = index === 0 ? '' : ','
    if ('members' in member) {
      const values = (member.columns ?? []).map((sql) => `, row[${columnOf(sql)}]`)
      const written = `groups[${groups.push(member.write) - 1}](parts${values.join('')})`
      return member.isText ? `${literal(comma)} + ${written} + ` : `${literal(comma)}, ${written}, `
    }
    const value = `${literal(`${comma}"${name.replace(/\?$/, '')}":`)} + ${valueCode(member, columnOf)}`
    if (!name.endsWith('?') || !('sql' in member)) return `${value} + `
    return `(row[${columnOf(member.sql)}] === '' ? '' : ${value}) + `
  })
  return { columns, record: link('{', codes, '}', groups), text: link('', codes, '', groups) }
}

function valueCode(member: Exclude<RecordMembers[string], Group>, columnOf: (sql: string) => number): string {
  if ('json' in member) return literal(member.json)
  if ('object' in member) {
    const inner = Object.entries(member.object).map(
      ([name, value], index) =>
        `${literal(`${index === 0 ? '{' : ','}"${name}":`)} + ${valueCode(value, columnOf)} + `,
    )
    return inner.join('') + literal('}')
  }
  if ('given' in member) return `parts.given[${literal(member.given)}]`
  const { sql, isQuoted, empty, isHistory } = member
  const value = `row[${columnOf(sql)}]`
  const json = isQuoted ? `'"' + ${value} + '"'` : value
  if (isHistory) return `(${value} === '0' || ${value} === '' ? 'null' : ${json})`
  return empty === undefined ? json : `(${value} === '' ? ${literal(empty)} : ${json})`
}

function literal(text: string): string {
  return JSON.stringify(text)
}

function link<P>(
  before: string,
  codes: readonly string[],
  after: string,
  groups: readonly Group<P>['write'][],
): Compiled<P>['record'] {
  const pieces = `${literal(before)} + ${codes.join('')}${literal(after)}`
  const source = `'use strict'; return (row, parts) => ${groups.length > 0 ? `[${pieces}]` : pieces}`
  // The source of the generated function contains only text of this program, no input.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const create = new Function('groups', source) as (groups: unknown) => Compiled<P>['record']
  return create(groups)
}
