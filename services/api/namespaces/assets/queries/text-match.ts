import type { Bindings } from '../../../database/index.ts'

/** Case-insensitive "contains", with every wildcard of the term taken literally. */
export function contains(expression: string, term: string, bindings: Bindings): string {
  const pattern = `%${term.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  return `${expression} ILIKE ${bindings.bind(pattern, 'text')}`
}

/**
 * "Has words like these": trigram word similarity of at least 0.6, the default of the operator, where the database has
 * the `pg_trgm` extension, otherwise plain "contains".
 */
export function resembles(expression: string, term: string, trigrams: boolean, bindings: Bindings): string {
  if (!trigrams) return contains(expression, term, bindings)
  return `${bindings.bind(term, 'text')} <% ${expression}`
}
