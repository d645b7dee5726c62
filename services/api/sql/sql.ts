import { createHash } from 'node:crypto'
import type { SqlValue, Statement } from './statement.ts'

/**
 * A bound value with the SQL type to which it is cast. If an object occurs several times in a statement, all
 * occurrences have the same placeholder.
 */
export interface Bound {
  readonly value: SqlValue
  readonly type: string
}

type Piece = string | Bound

/** A fragment of SQL with its bound values. Fragments are combined with `sql` and rendered once. */
export class Sql {
  readonly pieces: readonly Piece[]

  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces
  }

  /** Renders the SQL text with numbered placeholders, and the values in the order of their numbers. */
  render(): Pick<Statement, 'text' | 'values'> {
    const numbers = new Map<Bound, number>()
    let text = ''
    for (const piece of this.pieces) {
      if (typeof piece === 'string') text += piece
      else {
        let number = numbers.get(piece)
        if (number === undefined) numbers.set(piece, (number = numbers.size + 1))
        text += `$${number}::${piece.type}`
      }
    }
    return { text, values: [...numbers.keys()].map(({ value }) => value) }
  }
}

/** Template tag for SQL: literal text and fragments. Text from outside the program must be bound, never inserted. */
export function sql(texts: TemplateStringsArray, ...fragments: readonly Sql[]): Sql {
  const pieces: Piece[] = []
  texts.forEach((text, index) => {
    if (text !== '') pieces.push(text)
    const fragment = fragments[index]
    if (fragment) pieces.push(...fragment.pieces)
  })
  return new Sql(pieces)
}

/**
 * Fragment of literal SQL text, for example a column name. The text must be text of this program. Row counts of LIMIT
 * and OFFSET are also literal, because PostgreSQL plans by their values.
 */
export function raw(text: string | number): Sql {
  return new Sql([String(text)])
}

/**
 * Fragment of one bound value.
 * @param type SQL type to which the value is cast, for example `text[]`.
 */
export function bind(value: SqlValue, type: string): Sql {
  return new Sql([{ value, type }])
}

/** Binds 64-bit ids as the text of an array, because the driver would quote the elements of an array one by one. */
export function bindIds(ids: readonly bigint[]): Sql {
  return bind(`{${ids.join(',')}}`, 'bigint[]')
}

/** Binds the ids of a 32-bit column. Ids out of range match no row, so they are omitted. */
export function bindIntegers(ids: readonly bigint[]): Sql {
  const inRange = ids.filter((id) => id >= -0x8000_0000n && id <= 0x7fff_ffffn)
  return bind(`{${inRange.join(',')}}`, 'integer[]')
}

/** Joins fragments with a separator, for example ` AND `. */
export function joinSql(fragments: readonly Sql[], separator: string): Sql {
  const pieces: Piece[] = []
  fragments.forEach((fragment, index) => {
    if (index > 0) pieces.push(separator)
    pieces.push(...fragment.pieces)
  })
  return new Sql(pieces)
}

/** Conjunction of conditions; `true` if there are none. */
export function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? raw('true') : joinSql(conditions, ' AND ')
}

/** Disjunction of conditions; `false` if there are none. */
export function anyOf(conditions: readonly Sql[]): Sql {
  if (conditions.length < 2) return conditions[0] ?? raw('FALSE')
  return sql`(${joinSql(conditions, ' OR ')})`
}

/** `WHERE` clause of conditions joined by `AND`; empty text without conditions. */
export function where(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? raw('') : sql`WHERE ${allOf(conditions)}`
}

/**
 * Assigns statement names to the first distinct statement texts, so that each connection prepares a text once. A
 * connection never frees a prepared statement, so later texts get no name and are planned for each execution.
 */
export class PreparedNames {
  readonly #names = new Map<string, string>()
  readonly #most: number

  /** @param most maximum number of statement texts that get a name. */
  constructor(most: number) {
    this.#most = most
  }

  /** Returns the statement, with a name if the text of the statement has one. */
  prepared({ text, values }: Pick<Statement, 'text' | 'values'>): Statement {
    let name = this.#names.get(text)
    if (name === undefined && this.#names.size < this.#most) {
      name = `p${createHash('sha1').update(text).digest('base64url')}`
      this.#names.set(text, name)
    }
    return name === undefined ? { text, values } : { text, values, name, isNamedByText: true }
  }
}
