import { bind, bindIntegers, raw, sql } from '../../../database/index.ts'
import type { Sql } from '../../../database/index.ts'

/** Condition that no row meets. */
export const NEVER = raw('FALSE')

/** The column has one of some texts; of no texts it has none. */
export function isOneOf(column: Sql, texts: readonly string[]): Sql {
  if (texts.length === 0) return NEVER
  if (texts.length === 1) return sql`${column} = ${bind(texts[0]!, 'text')}`
  return sql`${column} = ANY(${bind(texts, 'text[]')})`
}

/** From so many texts on, to hash them once takes less than to compare a few rows with each. */
const MANY = 50

/** The column has none of some texts. */
export function isNoneOf(column: Sql, texts: readonly string[]): Sql {
  if (texts.length === 0) return raw('TRUE')
  const list = bind(texts, 'text[]')
  // `<> ALL` compares with one after the other, up to PostgreSQL 14.
  return texts.length < MANY ? sql`${column} <> ALL(${list})` : sql`${column} NOT IN (SELECT unnest(${list}))`
}

/** A 32-bit column has none of some ids. */
export function isNoneOfIds(column: Sql, ids: readonly bigint[]): Sql {
  const list = bindIntegers(ids)
  return ids.length < MANY ? sql`${column} <> ALL(${list})` : sql`${column} NOT IN (SELECT unnest(${list}))`
}

/** Case-insensitive "contains", with every wildcard of the term taken literally. */
export function containsText(expression: Sql, term: string): Sql {
  return sql`${expression} ILIKE ${patternOf(term)}`
}

/** "Contains" for names of accounts, which have small letters alone: to fold case takes three times as long. */
export function containsName(expression: Sql, term: string): Sql {
  return sql`${expression} LIKE ${patternOf(term)}`
}

function patternOf(term: string): Sql {
  return bind(`%${term.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`, 'text')
}

/**
 * "Has words like these": trigram word similarity of at least 0.6, the default of the operator, where the database has
 * the `pg_trgm` extension, otherwise plain "contains".
 */
export function resembles(expression: Sql, term: string, trigrams: boolean): Sql {
  return trigrams ? sql`${bind(term, 'text')} <% ${expression}` : containsText(expression, term)
}
