import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { collectionParameters } from '../parameters.ts'
import { ofCollection } from '../../nft/parameters/index.ts'
import type { CollectionValues } from '../parameters.ts'
import { collectionList } from '../lists/collection-list.ts'
import type { AssetsSetup } from '../setup.ts'
import type { ListOfRecords } from '../../nft/endpoints/index.ts'
import { countEndpointOf, oneJson, runCount, runList } from '../../nft/endpoints/index.ts'

const notFound = { status: 416, message: 'Collection not found' } as const

/** Endpoints of collections: list, count, and one collection. */
export function collectionEndpoints(setup: AssetsSetup): Endpoint[] {
  const records: ListOfRecords<CollectionValues> = {
    lists: setup.lists,
    list: ({ session, values }) => collectionList(setup.lists, setup.trigrams, session, values),
    kind: setup.records.collection,
  }
  const list = endpoint({
    path: '/v1/collections',
    tag: 'collections',
    summary: 'Collections',
    parameters: collectionParameters(setup.limits.collections),
    record: shape.list(setup.records.collection.schema),
    run: runList(records),
  })
  const one = endpoint({
    path: '/v1/collections/:collection_name',
    tag: 'collections',
    summary: 'One collection',
    parameters: ofCollection,
    record: setup.records.collection.schema,
    failures: [notFound],
    cache: 'path',
    run: ({ session, values }) => {
      const name = values.collection_name
      return oneJson(session, name, setup.records.collection, notFound)
    },
  })
  return [list, countEndpointOf(list, runCount(records)), one]
}
