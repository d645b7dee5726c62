import { bind, bindIntegers, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { NEVER } from '../../../planner/filters/index.ts'
import type { CollectionListValues } from '../parameters/index.ts'

/** State of template buy offers that can be accepted. */
const LISTED = 0

/** Condition: the column has one of the texts; false without texts. */
export function isOneOf(column: Sql, texts: readonly string[]): Sql {
  if (texts.length === 0) return NEVER
  if (texts.length === 1) return sql`${column} = ${bind(texts[0]!, 'text')}`
  return sql`${column} = ANY(${bind(texts, 'text[]')})`
}

/** Minimum number of values for which one hash table is cheaper than comparing each row with each value. */
const MANY = 50

/** Condition: the column has none of the texts. */
export function isNoneOf(column: Sql, texts: readonly string[]): Sql {
  if (texts.length === 0) return raw('TRUE')
  const list = bind(texts, 'text[]')
  // Up to PostgreSQL 14, `<> ALL` compares with one value after the other; a hashed subquery does not.
  return texts.length < MANY ? sql`${column} <> ALL(${list})` : sql`${column} NOT IN (SELECT unnest(${list}))`
}

/** Condition: a 32-bit column has none of the ids. */
export function isNoneOfIds(column: Sql, ids: readonly bigint[]): Sql {
  const list = bindIntegers(ids)
  return ids.length < MANY ? sql`${column} <> ALL(${list})` : sql`${column} NOT IN (SELECT unnest(${list}))`
}

/** Condition: the column has one of the texts of a parameter. No condition if the parameter is absent. */
export function oneOf(column: string, texts: readonly string[] | undefined): Sql[] {
  return texts ? [isOneOf(raw(column), texts)] : []
}

/** Condition: the column has one of the 32-bit ids of a parameter. No condition if the parameter is absent. */
export function oneOfIds(column: string, ids: readonly bigint[] | null | undefined): Sql[] {
  return ids ? [sql`${raw(column)} = ANY(${bindIntegers(ids)})`] : []
}

/** Condition: the column equals a text. No condition if the parameter is absent. */
export function isText(column: string, text: string | undefined): Sql[] {
  return text === undefined ? [] : [sql`${raw(column)} = ${bind(text, 'text')}`]
}

/** The requested collections: names and white-list without the black-list; undefined for all collections. */
export function wantedCollections(values: CollectionListValues): readonly string[] | undefined {
  const { collection_name: named, collection_whitelist: white, collection_blacklist: black = [] } = values
  const wanted = named && white ? named.filter((name) => white.includes(name)) : (named ?? white)
  return wanted?.filter((name) => !black.includes(name))
}

/** Conditions of the parameters `collection_name`, `collection_whitelist` and `collection_blacklist` on a column. */
export function inCollections(column: string, values: CollectionListValues): Sql[] {
  const wanted = wantedCollections(values)
  if (wanted) return [isOneOf(raw(column), wanted)]
  const black = values.collection_blacklist ?? []
  return black.length > 0 ? [isNoneOf(raw(column), black)] : []
}

/**
 * Condition: the template has, or has no, listed buy offer.
 * @param id SQL of the template's id.
 */
export function hasTemplateBuyoffer(id: Sql, isWanted: boolean): Sql {
  const exists = sql`EXISTS (SELECT FROM market.template_buyoffers b WHERE b.template_id = ${id}
    AND b.state = ${raw(LISTED)})`
  return isWanted ? exists : sql`NOT ${exists}`
}

/**
 * Condition: none of the accounts owns an asset of the template.
 * @param id SQL of the template's id, not null.
 */
export function isHeldByNone(id: Sql, accounts: readonly string[]): Sql {
  // NOT IN needs values without NULL, so `coalesce` replaces NULL by 0, which is no template id. With the condition `IS
  // NOT NULL` instead, a generic plan of PostgreSQL 18 would not use the index-only scan of assets_held_idx.
  return sql`${id} NOT IN (SELECT coalesce(h.template_id, 0) FROM assets.assets h
    WHERE h.owner = ANY(${bind(accounts, 'text[]')}))`
}

/**
 * Condition: a column of attributes contains an object.
 * @param containment JSON text, for example `{"level":4}`.
 */
export function contains(column: string, containment: string): Sql {
  return sql`${raw(column)} @> ${bind(containment, 'jsonb')}`
}

/** Condition: the collection authorizes an account. No condition if the parameter is absent. */
export function authorizedBy(column: string, account: string | undefined): Sql[] {
  if (account === undefined) return []
  const listed = sql`k.authorized_accounts @> ARRAY[${bind(account, 'text')}]`
  return [sql`${raw(column)} IN (SELECT k.collection_name FROM assets.collections k WHERE ${listed})`]
}

/**
 * Case-insensitive "contains"; wildcards in the term are literal. With the collation "C", ILIKE ignores the case of
 * ASCII letters only. For other letters, a regular expression names the upper and the lower case. The trigram indexes
 * serve ILIKE and regular expressions.
 */
export function containsText(expression: Sql, term: string): Sql {
  const isFoldedAlike = (term.match(/\P{ASCII}/gu) ?? []).every((each) => casesOf(each).length === 1)
  return isFoldedAlike
    ? sql`${expression} ILIKE ${patternOf(term)}`
    : sql`${expression} ~ ${bind(term.replaceAll(/[^]/gu, inAnyCase), 'text')}`
}

/** Upper and lower case of a letter, without forms that consist of several characters. */
function casesOf(letter: string): string[] {
  // "İ" has a lower case of two characters, i and a combining dot; PostgreSQL uses only the i.
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

/** "Contains" for account names, which have only lower-case letters: case folding takes three times as long. */
export function containsName(expression: Sql, term: string): Sql {
  return sql`${expression} LIKE ${patternOf(term)}`
}

function patternOf(term: string): Sql {
  return bind(`%${term.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`, 'text')
}

/**
 * "Has similar words": trigram word similarity of at least 0.6, the operator's default, with the `pg_trgm` extension;
 * otherwise plain "contains".
 */
export function resembles(expression: Sql, term: string, trigrams: boolean): Sql {
  return trigrams ? sql`${bind(term, 'text')} <% ${expression}` : containsText(expression, term)
}
