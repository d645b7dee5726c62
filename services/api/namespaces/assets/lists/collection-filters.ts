import { bind, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import { isNoneOf, isOneOf } from './conditions.ts'
import { wantedCollections } from '../../parameter-groups.ts'
import type { CollectionListValues } from '../../parameter-groups.ts'

/** Table of collections, as statistics know it. */
export const COLLECTIONS = 'assets.collections'

/** A table whose rows belong to a collection, or are collections. */
export interface OfCollections {
  /** Schema-qualified name, as statistics know it. */
  readonly table: string
  readonly alias: string
  /** Column of the collection's name. */
  readonly column: string
}

/** Filter of a column of names. */
export function nameFilter(
  name: string,
  names: readonly string[],
  statistics: Statistics,
  { table, alias, column }: OfCollections,
  isIndexed = true,
): Filter {
  return {
    name,
    condition: isOneOf(raw(`${alias}.${column}`), names),
    rows: statistics.equal(table, column, names),
    equals: { column, values: names, type: 'text', count: names.length },
    columns: [column],
    isIndexed,
  }
}

/** Filter of the requested collections: of names and white-list, otherwise of the black-list. */
export function collectionFilter(
  values: CollectionListValues,
  statistics: Statistics,
  source: OfCollections,
): Filter[] {
  const wanted = wantedCollections(values)
  if (wanted) return [nameFilter('collection_name', wanted, statistics, source)]
  const { table, alias, column } = source
  const black = values.collection_blacklist ?? []
  if (black.length === 0) return []
  return [
    {
      name: 'collection_blacklist',
      condition: isNoneOf(raw(`${alias}.${column}`), black),
      rows: Math.max(1, statistics.rows(table) - statistics.equal(table, column, black)),
      columns: [column],
      isIndexed: false,
    },
  ]
}

/** Condition that a collection, `row`, lists an account. */
export function listsAccount(row: string, list: 'authorized' | 'notify', account: string): Sql {
  return sql`${raw(`${row}.${list}_accounts`)} @> ARRAY[${bind(account, 'text')}]`
}

/** Filter of the collections that list an account among those that may mint and edit. */
export function authorizedFilter(
  account: string | undefined,
  statistics: Statistics,
  { table, alias, column }: OfCollections,
): Filter[] {
  if (account === undefined) return []
  const listed = statistics.containing(COLLECTIONS, 'authorized_accounts', account)
  const share = Math.min(1, Math.max(1, listed) / statistics.rows(COLLECTIONS))
  return [
    {
      name: 'authorized_account',
      condition: sql`${raw(`${alias}.${column}`)} IN (SELECT k.collection_name FROM assets.collections k
        WHERE ${listsAccount('k', 'authorized', account)})`,
      rows: statistics.rows(table) * share,
      isIndexed: true,
    },
  ]
}
