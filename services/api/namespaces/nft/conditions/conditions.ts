import { bind, bindIntegers, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { NEVER } from '../../../planner/filters/index.ts'
import { wantedCollections } from '../parameters/index.ts'
import type { CollectionListValues } from '../parameters/index.ts'

/** State of template buy offers that can be accepted. */
const LISTED = 0

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

/** A column has one of the texts of a parameter; nothing when it is absent. */
export function oneOf(column: string, texts: readonly string[] | undefined): Sql[] {
  return texts ? [isOneOf(raw(column), texts)] : []
}

/** A column has one of the 32-bit ids of a parameter; nothing when it is absent. */
export function oneOfIds(column: string, ids: readonly bigint[] | null | undefined): Sql[] {
  return ids ? [sql`${raw(column)} = ANY(${bindIntegers(ids)})`] : []
}

/** A column has a text; nothing when it is absent. */
export function isText(column: string, text: string | undefined): Sql[] {
  return text === undefined ? [] : [sql`${raw(column)} = ${bind(text, 'text')}`]
}

/** `collection_name`, `collection_whitelist` and `collection_blacklist` on a column. */
export function inCollections(column: string, values: CollectionListValues): Sql[] {
  const wanted = wantedCollections(values)
  if (wanted) return [isOneOf(raw(column), wanted)]
  const black = values.collection_blacklist ?? []
  return black.length > 0 ? [isNoneOf(raw(column), black)] : []
}

/** Whether `collection_whitelist` or `collection_blacklist` leaves something out. */
export function hasCollectionLists(values: CollectionListValues): boolean {
  return values.collection_whitelist !== undefined || (values.collection_blacklist ?? []).length > 0
}

/** With, or without, a listed buy offer for a template. @param id of the template. */
export function hasTemplateBuyoffer(id: Sql, isWanted: boolean): Sql {
  const exists = sql`EXISTS (SELECT FROM market.template_buyoffers b WHERE b.template_id = ${id}
    AND b.state = ${raw(String(LISTED))})`
  return isWanted ? exists : sql`NOT ${exists}`
}

/** No asset of a template is held by some accounts. @param id of the template, not null. */
export function isHeldByNone(id: Sql, accounts: readonly string[]): Sql {
  return sql`${id} NOT IN (SELECT h.template_id FROM assets.assets h
    WHERE h.owner = ANY(${bind(accounts, 'text[]')}) AND h.template_id IS NOT NULL)`
}

/** A column of attributes contains an object. @param containment JSON text, for example `{"level":4}`. */
export function contains(column: string, containment: string): Sql {
  return sql`${raw(column)} @> ${bind(containment, 'jsonb')}`
}

/** Collections that list an account among those that may mint and edit; nothing when it is absent. */
export function authorizedBy(column: string, account: string | undefined): Sql[] {
  if (account === undefined) return []
  const listed = sql`k.authorized_accounts @> ARRAY[${bind(account, 'text')}]`
  return [sql`${raw(column)} IN (SELECT k.collection_name FROM assets.collections k WHERE ${listed})`]
}

/**
 * Case-insensitive "contains", with every wildcard of the term taken literally. ILIKE folds ASCII alone where the collation
 * is "C"; a regular expression that names both cases of each letter does not depend on it, and the same indexes serve it.
 */
export function containsText(expression: Sql, term: string): Sql {
  const isFoldedAlike = (term.match(/\P{ASCII}/gu) ?? []).every((each) => casesOf(each).length === 1)
  return isFoldedAlike
    ? sql`${expression} ILIKE ${patternOf(term)}`
    : sql`${expression} ~ ${bind(term.replaceAll(/[^]/gu, inAnyCase), 'text')}`
}

/** A letter in its cases, each of one character. */
function casesOf(letter: string): string[] {
  // One letter has a dot of its own in lower case, which PostgreSQL leaves out.
  const [lower] = letter.toLowerCase()
  const upper = letter.toUpperCase()
  const cases = [letter, lower!, upper, upper.toLowerCase()]
  return [...new Set(cases)].filter((each) => /^[^]$/u.test(each))
}

/** Regular expression of a letter in any case. */
function inAnyCase(letter: string): string {
  const cases = casesOf(letter)
  return cases.length > 1 ? `[${cases.join('')}]` : letter.replace(/[\\^$.|?*+()[\]{}]/, String.raw`\$&`)
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
