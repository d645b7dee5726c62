import { createHash } from 'node:crypto'
import type { SqlValue, Statement } from './statement.ts'

/** A value of a statement with the type that it is cast to. The same object gets the same placeholder wherever it occurs. */
export interface Bound {
  readonly value: SqlValue
  readonly type: string
}

type Piece = string | Bound

/** A fragment of SQL that knows the values it binds. Fragments are put together with `sql` and rendered once. */
export class Sql {
  readonly pieces: readonly Piece[]

  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces
  }

  /** The text with numbered placeholders, and the values in their order. */
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

/** Template tag: SQL of this program, with fragments between. A text that comes from elsewhere is bound, never inserted. */
export function sql(texts: TemplateStringsArray, ...fragments: readonly Sql[]): Sql {
  const pieces: Piece[] = []
  texts.forEach((text, index) => {
    if (text !== '') pieces.push(text)
    const fragment = fragments[index]
    if (fragment) pieces.push(...fragment.pieces)
  })
  return new Sql(pieces)
}

/** SQL text of this program, for example the name of a column or a number. */
export function raw(text: string): Sql {
  return new Sql([text])
}

/** A bound value. @param type what it is cast to, for example `text[]`. */
export function bind(value: SqlValue, type: string): Sql {
  return new Sql([{ value, type }])
}

/** 64-bit ids as one bound array, which the driver then need not quote one by one. */
export function bindIds(ids: readonly bigint[]): Sql {
  return bind(`{${ids.join(',')}}`, 'bigint[]')
}

/** Ids of a 32-bit column; those beyond it are left out, as they match nothing. */
export function bindIntegers(ids: readonly bigint[]): Sql {
  const inRange = ids.filter((id) => id >= -0x8000_0000n && id <= 0x7fff_ffffn)
  return bind(`{${inRange.join(',')}}`, 'integer[]')
}

/** Fragments with a separator between them, for example ` AND `. */
export function joinSql(fragments: readonly Sql[], separator: string): Sql {
  const pieces: Piece[] = []
  fragments.forEach((fragment, index) => {
    if (index > 0) pieces.push(separator)
    pieces.push(...fragment.pieces)
  })
  return new Sql(pieces)
}

/** All of some conditions; `true` without any. */
export function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? raw('true') : joinSql(conditions, ' AND ')
}

/** Any of some conditions; `false` without any. */
export function anyOf(conditions: readonly Sql[]): Sql {
  if (conditions.length < 2) return conditions[0] ?? raw('FALSE')
  return sql`(${joinSql(conditions, ' OR ')})`
}

/** `WHERE` and conditions joined by `AND`; empty without conditions. */
export function where(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? raw('') : sql`WHERE ${allOf(conditions)}`
}

/**
 * Names the first statements of different text, so that connections prepare them once. A connection retains what it has
 * prepared for good, so later texts get no name and are planned each time.
 */
export class PreparedNames {
  readonly #names = new Map<string, string>()
  readonly #most: number

  /** @param most named texts. */
  constructor(most: number) {
    this.#most = most
  }

  /** The statement, with a name if there is one for its text. */
  prepared({ text, values }: Pick<Statement, 'text' | 'values'>): Statement {
    let name = this.#names.get(text)
    if (name === undefined && this.#names.size < this.#most) {
      name = `p${createHash('sha1').update(text).digest('base64url')}`
      this.#names.set(text, name)
    }
    return name === undefined ? { text, values } : { text, values, name, isNamedByText: true }
  }
}
