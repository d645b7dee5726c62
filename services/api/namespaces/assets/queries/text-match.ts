import type { Bindings } from '../../../database/index.ts'

/** Case-insensitive "contains", with every wildcard of the term taken literally. */
export function contains(expression: string, term: string, bindings: Bindings): string {
  return `${expression} ILIKE ${bindings.bind(patternOf(term), 'text')}`
}

/** "Contains" for names of accounts, which have small letters alone: to fold case takes three times as long. */
export function nameContains(expression: string, term: string, bindings: Bindings): string {
  return `${expression} LIKE ${bindings.bind(patternOf(term), 'text')}`
}

function patternOf(term: string): string {
  return `%${term.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
}

/**
 * "Has words like these": trigram word similarity of at least 0.6, the default of the operator, where the database has
 * the `pg_trgm` extension, otherwise plain "contains".
 */
export function resembles(expression: string, term: string, trigrams: boolean, bindings: Bindings): string {
  if (!trigrams) return contains(expression, term, bindings)
  return `${bindings.bind(term, 'text')} <% ${expression}`
}
