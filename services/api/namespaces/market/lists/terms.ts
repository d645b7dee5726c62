import { createHash } from 'node:crypto'
import { bind, joinSql, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'

/** Kinds of what listings and payouts are found by, as in market.listing_terms and market.payout_terms. */
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

/** Terms of listings of several assets, and of more than two schemas. */
export const BUNDLE = termOf('is', 'bundle')
export const MANY_SCHEMAS = termOf('is', 'schemas')

/** Number of a fact that listings are found by: `market.trait` in the database. Different facts may have one number. */
export function termOf(kind: TermKind | 'pair', value: string): number {
  return createHash('md5').update(`${kind}\u001f${value}`).digest().readInt32BE(0)
}

/** Numbers of several values of a kind. */
export function termsOf(kind: TermKind, values: readonly (string | number | bigint)[]): number[] {
  return values.map((value) => termOf(kind, String(value)))
}

/** Terms of listings without a template of their own. @param collections the only ones that are requested. */
export function termsOfNoTemplate(collections: readonly string[] | undefined): number[] {
  return collections ? termsOf('plain', collections) : [termOf('is', 'plain')]
}

/** Terms of one index scan, and scans for one condition, which are planned each on its own. */
const TERMS_OF_SCAN = 16
const MOST_SCANS = 8

/**
 * The listing has one of some terms. A scan of the index compares what it finds with each of its terms, so many terms are
 * divided among several scans.
 * @param column expression of the terms, as the index has it.
 */
export function hasTerm(column: Sql, terms: readonly number[]): Sql {
  const size = Math.max(TERMS_OF_SCAN, Math.ceil(terms.length / MOST_SCANS))
  const scans: Sql[] = []
  for (let at = 0; at === 0 || at < terms.length; at += size)
    scans.push(sql`${column} && ${bind(terms.slice(at, at + size), 'integer[]')}`)
  return scans.length === 1 ? scans[0]! : sql`(${joinSql(scans, ' OR ')})`
}
