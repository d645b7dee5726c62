import { without } from '../../../../core/endpoint/index.ts'
import { raw, sql } from '../../../sql/index.ts'
import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List, ListReader } from '../../../planner/index.ts'
import type { Order, Source } from '../../../planner/sources/index.ts'
import { directionOf } from '../../nft/paging/index.ts'
import { SCHEMAS } from '../../nft/tables.ts'
import { boundaryFilters, nameFilter } from '../../nft/filters/index.ts'
import { authorizedFilter, collectionFilter } from './collection-filters.ts'
import { containsText } from '../../nft/conditions/index.ts'
import type { SchemaValues } from '../parameters.ts'

/**
 * FROM item of schemas with a column `key`: the schema name, a space, and the collection name. A space sorts before
 * every character of a name, so `key` sorts by schema name, then by collection name.
 */
const KEYED = `(SELECT s.*, s.schema_name || ' ' || s.collection_name AS key FROM assets.schemas s) s`

const schemaSource: Source = {
  from: raw(KEYED),
  alias: 's',
  key: 'key',
  indexes: [
    { name: 'schemas_created_idx', columns: ['created_at_time', 'key'] },
    { name: 'schemas_name_idx', columns: ['schema_name', 'key'] },
  ],
}

/** Approximate share of the schemas that a name search matches. */
const SEARCHED = 0.05

/**
 * List of the requested schemas. The keys of the list are values of the column `key`; `schemaRecordKeys` converts them
 * to the keys of records.
 */
export async function schemaList(reader: ListReader, session: Session, values: SchemaValues): Promise<List> {
  const { statistics } = reader
  await statistics.refresh(session)
  const source = { table: SCHEMAS, alias: 's', column: 'collection_name' }
  const names = values.schema_name ?? values.ids
  const match = values.match
  const searched: Filter[] =
    match === undefined
      ? []
      : [
          {
            name: 'match',
            condition: containsText(raw('s.schema_name'), match),
            rows: statistics.rows(SCHEMAS) * SEARCHED,
            columns: ['schema_name'],
            isIndexed: false,
          },
        ]
  const filters = [
    ...(names ? [nameFilter('schema_name', names, statistics, { ...source, column: 'schema_name' })] : []),
    ...collectionFilter(values, statistics, source),
    ...authorizedFilter(values.authorized_account, statistics, source),
    ...searched,
    ...boundaryFilters(without(values, ['ids']), statistics, {
      table: SCHEMAS,
      alias: 's',
      key: 'schema_name',
      type: 'text',
      time: { column: 'created_at_time' },
    }),
  ]
  return { source: schemaSource, table: SCHEMAS, filters, order: orderOf(values) }
}

function orderOf(values: SchemaValues): Order {
  const direction = directionOf(values)
  const sort = values.sort
  if (sort === 'assets') {
    return {
      direction,
      // No index has the order of the number of minted assets, so the planner collects and sorts the schemas.
      segments: [{ rank: 0, column: 'minted' }],
      sorted: {
        from: raw(`${KEYED} LEFT JOIN assets.schema_counts k
          ON k.collection_name = s.collection_name AND k.schema_name = s.schema_name`),
        value: raw('k.minted'),
      },
    }
  }
  const column = sort === 'schema_name' ? 'schema_name' : 'created_at_time'
  return { direction, segments: [{ rank: 0, column }] }
}

/** Converts the keys of a page of schemas to record keys, `collection/schema`. */
export function schemaRecordKeys(keys: Sql): Sql {
  return sql`SELECT split_part(p.k, ' ', 2) || '/' || split_part(p.k, ' ', 1) AS k, p.n FROM (${keys}) p`
}
