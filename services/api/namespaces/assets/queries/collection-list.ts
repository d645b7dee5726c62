import { Bindings } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { boundaryConditions, directionOf } from '../../paging/index.ts'
import { collectionLists, oneOf } from './asset-conditions.ts'
import { contains, resembles } from './text-match.ts'

/** The page of collections that a request asks for; keys are collection names. */
export function collectionQuery(values: Values, trigrams: boolean): PageQuery {
  const bindings = new Bindings()
  const columns = {
    key: 'c.collection_name',
    cast: 'text',
    parameter: 'collection_name',
    date: 'c.created_at_time',
  } as const
  const conditions = [
    ...oneOf('c.author', values.texts('author'), bindings),
    ...boundaryConditions(values, columns, bindings),
    ...collectionLists('c.collection_name', values, bindings),
    ...memberCondition('c.authorized_accounts', values.text('authorized_account'), bindings),
    ...memberCondition('c.notify_accounts', values.text('notify_account'), bindings),
  ]
  const match = values.text('match')
  const search = values.text('search')
  if (match !== undefined) conditions.push(contains('c.collection_name', match, bindings))
  if (search !== undefined) {
    const shown = `(c.collection_name || ' ' || coalesce(c.data ->> 'name', ''))`
    conditions.push(resembles(shown, search, trigrams, bindings))
  }
  const direction = directionOf(values)
  const order =
    values.text('sort') === 'collection_name'
      ? `c.collection_name ${direction}`
      : `c.created_at_time ${direction}, c.collection_name`
  return { key: 'c.collection_name', from: 'assets.collections c', conditions, order, bindings }
}

function memberCondition(column: string, account: string | undefined, bindings: Bindings): string[] {
  return account === undefined ? [] : [`${column} @> ARRAY[${bindings.bind(account, 'text')}]`]
}

/** Collections that list an account among those that may mint and edit, as a condition on a collection column. */
export function authorizedCondition(column: string, values: Values, bindings: Bindings): string[] {
  const account = values.text('authorized_account')
  if (account === undefined) return []
  const [member] = memberCondition('k.authorized_accounts', account, bindings)
  return [`${column} IN (SELECT k.collection_name FROM assets.collections k WHERE ${member!})`]
}
