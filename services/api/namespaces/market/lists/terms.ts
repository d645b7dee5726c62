import { createHash } from 'node:crypto'
import { bind, joinSql, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'

/** Kinds of indexed terms of listings and payouts, as in market.listing_terms and market.payout_terms. */
export type TermKind =
  | 'minter'
  | 'receiver'
  | 'schema'
  | 'seller'
  | 'buyer'
  | 'maker'
  | 'taker'
  | 'symbol'
  | 'collection'
  | 'state'
  | 'is'
  | 'plain'
  | 'asset'
  | 'kind'
  | 'listing'
  | 'category'

/** Terms of listings with several assets, and with more than two schemas. */
export const BUNDLE = termOf('is', 'bundle')
export const MANY_SCHEMAS = termOf('is', 'schemas')

/**
 * Indexed term: a hash of kind and value, as `market.trait` in the database computes it. Hashes collide, so every
 * condition is checked again.
 */
export function termOf(kind: TermKind | 'pair', value: string): number {
  return createHash('md5').update(`${kind}\u001f${value}`).digest().readInt32BE(0)
}

/** Terms of several values of one kind. */
export function termsOf(kind: TermKind, values: readonly (string | number | bigint)[]): number[] {
  return values.map((value) => termOf(kind, String(value)))
}

/**
 * Terms of listings without a template of their own.
 * @param collections undefined for all collections.
 */
export function termsOfNoTemplate(collections: readonly string[] | undefined): number[] {
  return collections ? termsOf('plain', collections) : [termOf('is', 'plain')]
}

/** Terms of one GIN index scan; a condition with more terms uses several scans, which are planned one by one. */
const TERMS_OF_SCAN = 16
const MOST_SCANS = 8

/**
 * Condition: the listing has one of the terms. An index scan compares each entry with all its terms, so many terms are
 * split among several scans.
 * @param column expression of the terms, as the index has it.
 */
export function hasTerm(column: Sql, terms: readonly number[]): Sql {
  const size = Math.max(TERMS_OF_SCAN, Math.ceil(terms.length / MOST_SCANS))
  const scans: Sql[] = []
  for (let at = 0; at === 0 || at < terms.length; at += size)
    scans.push(sql`${column} && ${bind(terms.slice(at, at + size), 'integer[]')}`)
  return scans.length === 1 ? scans[0]! : sql`(${joinSql(scans, ' OR ')})`
}
