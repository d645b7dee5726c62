import { bind, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import { isNoneOf, wantedCollections } from '../../nft/conditions/index.ts'
import type { CollectionListValues } from '../../nft/parameters/index.ts'
import { nameFilter } from '../../nft/filters/index.ts'
import type { OfCollections } from '../../nft/filters/index.ts'

/** Schema-qualified name of the table of collections. `Statistics` stores row estimates by this name. */
export const COLLECTIONS = 'assets.collections'

/**
 * Filter on collection names. A request for names, or with a white-list, selects these names, minus the names of the
 * black-list. Any other request only excludes the names of the black-list.
 */
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

/**
 * Condition: the list of authorized or notified accounts of a collection contains the account. `row` is the SQL alias
 * of the collection.
 */
export function listsAccount(row: string, list: 'authorized' | 'notify', account: string): Sql {
  return sql`${raw(`${row}.${list}_accounts`)} @> ARRAY[${bind(account, 'text')}]`
}

/** Filter of the parameter `authorized_account`: the collection of the row authorizes the account. */
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
