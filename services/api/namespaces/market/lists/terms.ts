import { createHash } from 'node:crypto'
import { bind, sql } from '../../../database/index.ts'
import type { Sql } from '../../../database/index.ts'

/** Kinds of what listings and payouts are found by, as in 1003_market.sql. */
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
  | 'asset'
  | 'kind'
  | 'listing'
  | 'category'

/** Terms of listings of several assets, of more than two schemas, and without their own template. */
export const BUNDLE = termOf('is', 'bundle')
export const MANY_SCHEMAS = termOf('is', 'schemas')
export const NO_TEMPLATE = termOf('is', 'plain')

/** Number of a fact that listings are found by: `market.trait` in the database. Different facts may have one number. */
export function termOf(kind: TermKind | 'pair', value: string): number {
  return createHash('md5').update(`${kind}\u001f${value}`).digest().readInt32BE(0)
}

/** Numbers of several values of a kind. */
export function termsOf(kind: TermKind, values: readonly (string | number | bigint)[]): number[] {
  return values.map((value) => termOf(kind, String(value)))
}

/** The listing has one of some terms. @param column expression of the terms, as the index has it. */
export function hasTerm(column: Sql, terms: readonly number[]): Sql {
  return sql`${column} && ${bind(terms, 'integer[]')}`
}
