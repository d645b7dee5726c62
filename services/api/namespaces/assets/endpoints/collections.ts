import type { Endpoint } from '../../../endpoint/index.ts'
import { SEARCH_LENGTH, shape } from '../../../endpoint/index.ts'
import {
  boundaries,
  counting,
  greyListsOfCollections,
  paging,
  sorting,
} from '../../parameter-groups/index.ts'
import { collectionList } from '../lists/index.ts'
import { collectionRecord } from '../records/index.ts'
import type { AssetsSetup } from '../setup.ts'
import type { ListOfRecords } from './list.ts'
import { countTwin, oneJson, runCount, runList } from './list.ts'

const NOT_FOUND = { status: 416, message: 'Collection not found' } as const

/** `/v1/collections`, its count, and one collection. */
export function collectionEndpoints(setup: AssetsSetup): Endpoint[] {
  const records: ListOfRecords = {
    lists: setup.lists,
    list: ({ session, values }) => collectionList(setup.lists, setup.trigrams, session, values),
    kind: setup.records.collection,
  }
  const list: Endpoint = {
    path: '/v1/collections',
    tag: 'collections',
    summary: 'Collections',
    parameters: [
      ...paging(setup.limits.collections),
      ...sorting(['created', 'collection_name']),
      counting,
      { name: 'author', type: 'name', list: 'named', description: 'Author is one of these.' },
      { name: 'authorized_account', type: 'name', description: 'Lists this account as authorized.' },
      { name: 'notify_account', type: 'name', description: 'Notifies this account.' },
      { name: 'match', type: 'name', description: 'The collection name contains this text.' },
      {
        name: 'search',
        type: 'string',
        minimum: 1,
        maximum: SEARCH_LENGTH,
        description: 'Words like these in the collection name or the shown name.',
      },
      ...boundaries({ name: 'collection_name', type: 'string' }),
      ...greyListsOfCollections,
    ],
    record: shape.list(collectionRecord),
    run: runList(records),
  }
  const one: Endpoint = {
    path: '/v1/collections/:collection_name',
    tag: 'collections',
    summary: 'One collection',
    parameters: [{ name: 'collection_name', in: 'path', type: 'string', description: 'Collection.' }],
    record: collectionRecord,
    failures: [NOT_FOUND],
    cache: 'path',
    run: ({ session, values }) => {
      const name = values.text('collection_name')!
      return oneJson(session, name, setup.records.collection, NOT_FOUND)
    },
  }
  return [list, countTwin(list, runCount(records)), one]
}
