import { without } from '../../../../core/endpoint/index.ts'
import { bind, raw, sql } from '../../../sql/index.ts'
import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List, ListReader, Statistics } from '../../../planner/index.ts'
import type { Source } from '../../../planner/sources/index.ts'
import { directionOf } from '../../nft/paging/index.ts'
import { boundaryFilters } from '../../nft/filters/index.ts'
import { collectionFilter, COLLECTIONS, listsAccount } from './collection-filters.ts'
import { containsText, resembles } from '../../nft/conditions/index.ts'
import type { CollectionValues } from '../parameters.ts'

const collectionSource: Source = {
  from: raw('assets.collections c'),
  alias: 'c',
  key: 'collection_name',
  indexes: [
    { name: 'collections_pkey', columns: ['collection_name'] },
    { name: 'collections_created_idx', columns: ['created_at_time', 'collection_name'] },
  ],
}

/** Approximate share of the collections that a name search matches. */
const SEARCHED = 0.02

/** List of the requested collections. */
export async function collectionList(
  reader: ListReader,
  trigrams: boolean,
  session: Session,
  values: CollectionValues,
): Promise<List> {
  const { statistics } = reader
  await statistics.refresh(session)
  const source = { table: COLLECTIONS, alias: 'c', column: 'collection_name' }
  const filters = [
    ...accountFilters(values, statistics),
    ...collectionFilter(without(values, ['collection_name']), statistics, source),
    ...searchFilters(values, statistics, trigrams),
    ...boundaryFilters(
      values,
      statistics,
      {
        table: COLLECTIONS,
        alias: 'c',
        key: 'collection_name',
        type: 'text',
        time: { column: 'created_at_time' },
      },
      values.collection_name,
    ),
  ]
  const column = values.sort === 'collection_name' ? 'collection_name' : 'created_at_time'
  const order = { direction: directionOf(values), segments: [{ rank: 0, column }] }
  return { source: collectionSource, table: COLLECTIONS, filters, order }
}

function accountFilters(values: CollectionValues, statistics: Statistics): Filter[] {
  const authors = values.author
  const filters: Filter[] = []
  if (authors) {
    filters.push({
      name: 'author',
      // The index collections_accounts_idx stores the expression `ARRAY[author]`, so the condition on the author uses
      // the same expression.
      condition: sql`ARRAY[c.author] && ${bind(authors, 'text[]')}`,
      rows: statistics.equal(COLLECTIONS, 'author', authors),
      columns: ['author'],
      isIndexed: true,
    })
  }
  for (const list of ['authorized', 'notify'] as const) {
    const account = values[`${list}_account` as const]
    if (account === undefined) continue
    filters.push({
      name: `${list}_account`,
      condition: listsAccount('c', list, account),
      rows: statistics.containing(COLLECTIONS, `${list}_accounts`, account),
      columns: [`${list}_accounts`],
      isIndexed: true,
    })
  }
  return filters
}

function searchFilters(values: CollectionValues, statistics: Statistics, trigrams: boolean): Filter[] {
  const searches: [name: string, condition: Sql][] = []
  const { match, search } = values
  if (match !== undefined) searches.push(['match', containsText(raw('c.collection_name'), match)])
  if (search !== undefined) {
    const shown = raw(`(c.collection_name || ' ' || coalesce(c.data ->> 'name', ''))`)
    searches.push(['search', resembles(shown, search, trigrams)])
  }
  return searches.map(([name, condition]) => ({
    name,
    condition,
    rows: statistics.rows(COLLECTIONS) * SEARCHED,
    isIndexed: false,
  }))
}
