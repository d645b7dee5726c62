import { inPath, names } from '../../../../core/parameters/index.ts'
import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { schemaParameters } from '../parameters.ts'
import type { SchemaValues } from '../parameters.ts'
import { schemaList, schemaRecordKeys } from '../lists/schema-list.ts'
import { schemaInPath } from '../lists/schema-in-path.ts'
import type { AssetsSetup } from '../setup.ts'
import type { ListOfRecords } from '../../nft/endpoints/index.ts'
import { countEndpointOf, oneJson, runCount, runList } from '../../nft/endpoints/index.ts'

const notFound = { status: 416, message: 'Schema not found' } as const

/** Endpoints of schemas: list, count, and one schema. */
export function schemaEndpoints(setup: AssetsSetup): Endpoint[] {
  const records: ListOfRecords<SchemaValues> = {
    lists: setup.lists,
    list: async ({ session, values }) => ({
      ...(await schemaList(setup.lists, session, values)),
      recordKeys: schemaRecordKeys,
    }),
    kind: setup.records.schema,
  }
  const list = endpoint({
    path: '/v1/schemas',
    tag: 'schemas',
    summary: 'Schemas',
    parameters: schemaParameters(setup.limits.schemas),
    record: shape.list(setup.records.schema.schema),
    run: runList(records),
  })
  const one = endpoint({
    path: '/v1/schemas/:collection_name/:schema_name',
    tag: 'schemas',
    summary: 'One schema',
    parameters: {
      collection_name: inPath(
        names(
          'Name of the collection, or several names separated by commas. The newest schema that matches is returned.',
          'comma',
        ),
      ),
      schema_name: inPath(
        names(
          'Name of the schema, or several names separated by commas. The newest schema that matches is returned.',
          'comma',
        ),
      ),
    },
    record: setup.records.schema.schema,
    failures: [notFound],
    cache: 'path',
    run: async ({ session, values }) => {
      const key = await schemaInPath(session, values.collection_name, values.schema_name)
      return oneJson(session, key, setup.records.schema, notFound)
    },
  })
  return [list, countEndpointOf(list, runCount(records)), one]
}
