import { packFields, packRows, unpackRows } from '../../database/index.ts'
import { shape } from '../../endpoint/index.ts'
import type { Members, NamedSchema, RecordSchema } from '../../endpoint/index.ts'
import type { Json } from '../../json/index.ts'

/** A member whose value is a column: its shape, the SQL of the value, and how its text becomes JSON. */
export interface Field {
  readonly schema: RecordSchema
  /** SQL of the value; PostgreSQL turns it into text, null into an empty text. */
  readonly sql: string
  /** The text is written as a JSON string without escaping; otherwise it is JSON. */
  readonly isQuoted: boolean
  /** JSON of an empty text; without it no text is empty. */
  readonly empty?: string
  /** Zero marks an event before the reader's history and is written as null. */
  readonly isHistory?: boolean
}

/** A member whose JSON is known when a page is read. */
export interface Given {
  readonly schema: RecordSchema
  /** Name of the member in `Parts.given`. */
  readonly given: string
}

/** A member with the same JSON in every record. */
export interface Constant {
  readonly schema: RecordSchema
  readonly json: string
}

/** An object whose members are columns of the row of the record. */
export interface ObjectMember {
  readonly schema: RecordSchema
  readonly object: Readonly<Record<string, Field | Given | Constant>>
}

/** Members that code writes, from `columns` or from shared rows. Never empty. */
export interface Group<P = Parts> {
  readonly members: Members
  readonly write: (parts: P, ...values: readonly string[]) => Json
  /** SQL of the values that it is written from. */
  readonly columns?: readonly string[]
  /** `write` returns a text, which is joined with the text of the members around the group. */
  readonly isText?: boolean
}

/** Input of the writer of members, besides the columns of their row. */
export interface Parts {
  /** JSON by name. */
  readonly given: Readonly<Record<string, string>>
}

/**
 * The members of a record in the order of the JSON text. The name of a group is not shown. A field whose name ends
 * in `?` is absent if it has no value; such a field must not be the first.
 */
export type RecordMembers<P = Parts> = Readonly<
  Record<string, Field | Given | Constant | ObjectMember | Group<P>>
>

/** Members as they are read and written. */
export interface Compiled<P = Parts> {
  /** SQL of the columns of a row. */
  readonly columns: readonly string[]
  /** Writes the members with braces; `text` without. */
  readonly record: (row: readonly string[], parts: P) => Json
  readonly text: (row: readonly string[], parts: P) => Json
}

/** The shape of members, by name. */
export function shapeOf<P>(members: RecordMembers<P>): Members {
  const shapes = Object.entries(members).map(([name, member]): Members =>
    'members' in member ? member.members : { [name]: member.schema },
  )
  return Object.assign({}, ...shapes) as Members
}

/** A record whose rows the statement of an endpoint reads. */
export interface PlainRecord {
  readonly schema: NamedSchema
  /** SQL of a packed row. */
  readonly packed: string
  /** SQL of the packed rows of a query. @param order ORDER BY of the rows, without the keyword. */
  readonly rows: (order: string) => string
  /** JSON of packed rows. */
  readonly read: (packed: string | null | undefined, given?: Parts['given']) => string[]
}

/** Declares a record of columns alone. */
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
 * Generates the function that writes members; the generated function takes 40 % less time than a loop over the members.
 * @param leading columns before those of the members.
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
  // The source holds text of this program alone.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const create = new Function('groups', source) as (groups: unknown) => Compiled<P>['record']
  return create(groups)
}
