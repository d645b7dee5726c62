import type { Session } from '../../../database/index.ts'
import { Bindings } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { boundaryConditions, directionOf } from '../../paging/index.ts'
import { collectionLists, oneOf } from './asset-conditions.ts'
import { authorizedCondition } from './collection-list.ts'
import { contains } from './text-match.ts'

const WITH_COUNTS = `assets.schemas s LEFT JOIN assets.schema_counts k
  ON k.collection_name = s.collection_name AND k.schema_name = s.schema_name`

/** The page of schemas that a request asks for; keys are `collection/schema`. */
export function schemaQuery(values: Values): PageQuery {
  const bindings = new Bindings()
  const columns = {
    key: 's.schema_name',
    cast: 'text',
    parameter: 'schema_name',
    isFilter: true,
    date: 's.created_at_time',
  } as const
  const conditions = [
    ...oneOf('s.collection_name', values.texts('collection_name'), bindings),
    ...oneOf('s.schema_name', values.texts('schema_name'), bindings),
    ...boundaryConditions(values, columns, bindings),
    ...collectionLists('s.collection_name', values, bindings),
    ...authorizedCondition('s.collection_name', values, bindings),
  ]
  const match = values.text('match')
  if (match !== undefined) conditions.push(contains('s.schema_name', match, bindings))
  const direction = directionOf(values)
  const sort = values.text('sort')
  const from = sort === 'assets' ? WITH_COUNTS : 'assets.schemas s'
  const orders: Readonly<Record<string, string>> = {
    schema_name: `s.schema_name ${direction}, s.collection_name`,
    assets: `k.minted ${direction} NULLS LAST, s.schema_name, s.collection_name`,
  }
  const order = orders[sort!] ?? `s.created_at_time ${direction}, s.schema_name, s.collection_name`
  return { key: `(s.collection_name || '/' || s.schema_name)`, from, conditions, order, bindings }
}

/**
 * The key of a schema that a path names. Clients may give several names; the newest schema of any of them is meant.
 */
export async function schemaKey(
  session: Session,
  collections: readonly string[],
  names: readonly string[],
): Promise<string> {
  const key = `${collections[0]!}/${names[0]!}`
  if (collections.length === 1 && names.length === 1) return key
  const rows = await session.query<[string]>({
    name: 'schema-of-several',
    text: `SELECT s.collection_name || '/' || s.schema_name FROM assets.schemas s
      WHERE s.collection_name = ANY($1::text[]) AND s.schema_name = ANY($2::text[])
      ORDER BY s.created_at_time DESC, s.schema_name, s.collection_name LIMIT 1`,
    values: [collections, names],
  })
  return rows[0]?.[0] ?? key
}
