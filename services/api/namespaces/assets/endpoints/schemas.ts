import type { Endpoint } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import {
  boundaries,
  counting,
  greyListsOfCollections,
  paging,
  sorting,
} from '../../parameter-groups/index.ts'
import { schemaList, schemaRecordKeys } from '../lists/index.ts'
import { schemaKey } from '../counters/index.ts'
import { schemaRecord } from '../records/index.ts'
import type { AssetsSetup } from '../setup.ts'
import type { ListOfRecords } from './list.ts'
import { countTwin, oneJson, runCount, runList } from './list.ts'

const NOT_FOUND = { status: 416, message: 'Schema not found' } as const

/** `/v1/schemas`, its count, and one schema. */
export function schemaEndpoints(setup: AssetsSetup): Endpoint[] {
  const records: ListOfRecords = {
    lists: setup.lists,
    list: ({ session, values }) => schemaList(setup.lists, session, values),
    recordKeys: schemaRecordKeys,
    kind: setup.records.schema,
  }
  const list: Endpoint = {
    path: '/v1/schemas',
    tag: 'schemas',
    summary: 'Schemas',
    parameters: [
      ...paging(setup.limits.schemas),
      ...sorting(['created', 'schema_name', 'assets']),
      counting,
      { name: 'authorized_account', type: 'name', description: 'Of collections that list this account.' },
      { name: 'collection_name', type: 'name', list: 'named', description: 'Collection is one of these.' },
      { name: 'schema_name', type: 'name', list: 'named', description: 'Schema is one of these.' },
      { name: 'match', type: 'name', description: 'The schema name contains this text.' },
      ...boundaries({ name: 'schema_name', type: 'string', isFilter: true }),
      ...greyListsOfCollections,
    ],
    record: shape.list(schemaRecord),
    run: runList(records),
  }
  const one: Endpoint = {
    path: '/v1/schemas/:collection_name/:schema_name',
    tag: 'schemas',
    summary: 'One schema',
    parameters: [
      { name: 'collection_name', in: 'path', type: 'name', list: 'comma', description: 'Collection.' },
      { name: 'schema_name', in: 'path', type: 'name', list: 'comma', description: 'Schema.' },
    ],
    record: schemaRecord,
    failures: [NOT_FOUND],
    cache: 'path',
    run: async ({ session, values }) => {
      const key = await schemaKey(session, values.texts('collection_name')!, values.texts('schema_name')!)
      return oneJson(session, key, setup.records.schema, NOT_FOUND)
    },
  }
  return [list, countTwin(list, runCount(records)), one]
}
