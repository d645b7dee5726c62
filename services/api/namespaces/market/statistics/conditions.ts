import { bind, bindIntegers, raw, sql } from '../../../database/index.ts'
import type { Sql } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { isNoneOf, isOneOf } from '../../assets/index.ts'

/** A column has one of the texts of a parameter; nothing when it is absent. */
export function oneOf(column: string, texts: readonly string[] | undefined): Sql[] {
  return texts ? [isOneOf(raw(column), texts)] : []
}

/** A column has one of the 32-bit ids of a parameter; nothing when it is absent. */
export function oneOfIds(column: string, ids: readonly bigint[] | undefined): Sql[] {
  return ids ? [sql`${raw(column)} = ANY(${bindIntegers(ids)})`] : []
}

/** A column has a text; nothing when it is absent. */
export function isText(column: string, text: string | undefined): Sql[] {
  return text === undefined ? [] : [sql`${raw(column)} = ${bind(text, 'text')}`]
}

/** `collection_whitelist` and `collection_blacklist` on a column. */
export function collectionLists(column: string, values: Values): Sql[] {
  const black = values.texts('collection_blacklist') ?? []
  return [
    ...oneOf(column, values.texts('collection_whitelist')),
    ...(black.length > 0 ? [isNoneOf(raw(column), black)] : []),
  ]
}

/** Whether `collection_whitelist` or `collection_blacklist` leaves something out. */
export function hasCollectionLists(values: Values): boolean {
  return values.has('collection_whitelist') || (values.texts('collection_blacklist') ?? []).length > 0
}
