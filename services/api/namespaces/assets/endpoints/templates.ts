import type { Endpoint, EndpointContext } from '../../../endpoint/index.ts'
import { RequestError, shape } from '../../../endpoint/index.ts'
import type { Json } from '../../../json/index.ts'
import {
  boundaries,
  counting,
  greyListsOfCollections,
  paging,
  sorting,
  templateNameSearch,
} from '../../parameter-groups/index.ts'
import { templateList } from '../lists/index.ts'
import { templateRecord } from '../records/index.ts'
import type { AssetsSetup } from '../setup.ts'
import type { ListOfRecords } from './list.ts'
import { countTwin, oneJson, runCount, runList } from './list.ts'

const NOT_FOUND = { status: 404, message: 'Template not found' } as const
const amount = { type: 'int', minimum: 0 } as const

/** `/v1/templates`, its count, and one template. */
export function templateEndpoints(setup: AssetsSetup): Endpoint[] {
  const records: ListOfRecords = {
    lists: setup.lists,
    list: (context) => templateList(setup.lists, setup.trigrams, context),
    kind: setup.records.template,
  }
  const list: Endpoint = {
    path: '/v1/templates',
    tag: 'templates',
    summary: 'Templates',
    parameters: [
      ...paging(setup.limits.templates),
      ...sorting(['created', 'name']),
      counting,
      { name: 'collection_name', type: 'name', list: 'named', description: 'Collection is one of these.' },
      { name: 'schema_name', type: 'name', list: 'named', description: 'Schema is one of these.' },
      { name: 'authorized_account', type: 'name', description: 'Of collections that list this account.' },
      { name: 'issued_supply', ...amount, description: 'Assets minted so far.' },
      { name: 'min_issued_supply', ...amount, description: 'At least so many minted.' },
      { name: 'max_issued_supply', ...amount, description: 'At most so many minted.' },
      { name: 'max_supply', ...amount, description: 'Greatest number of assets; 0 = unlimited.' },
      { name: 'has_assets', type: 'bool', description: 'With at least one asset that is not burned.' },
      { name: 'is_transferable', type: 'bool', description: 'Assets can, or cannot, be transferred.' },
      { name: 'is_burnable', type: 'bool', description: 'Assets can, or cannot, be burned.' },
      { name: 'include_deleted', type: 'bool', description: 'Also templates that were deleted on chain.' },
      ...templateNameSearch,
      ...boundaries({ name: 'template_id', type: 'id' }),
      ...greyListsOfCollections,
    ],
    attributes: ['data', 'template_data'],
    record: shape.list(templateRecord),
    run: runList(records),
  }
  const one: Endpoint = {
    path: '/v1/templates/:collection_name/:template_id',
    tag: 'templates',
    summary: 'One template',
    parameters: [
      { name: 'collection_name', in: 'path', type: 'string', description: 'Collection.' },
      { name: 'template_id', in: 'path', type: 'id', description: 'Template.' },
    ],
    record: templateRecord,
    failures: [NOT_FOUND],
    cache: 'path',
    run: (context) => runOne(setup, context),
  }
  return [list, countTwin(list, runCount(records)), one]
}

async function runOne(setup: AssetsSetup, { session, values }: EndpointContext): Promise<Json> {
  const id = values.id('template_id')!
  const rows = await session.query({
    name: 'template-in-collection',
    text: 'SELECT 1 FROM assets.templates WHERE template_id = $1::bigint AND collection_name = $2::text',
    values: [id, values.text('collection_name')!],
  })
  if (rows.length === 0) throw new RequestError(NOT_FOUND.status, NOT_FOUND.message)
  return oneJson(session, String(id), setup.records.template, NOT_FOUND)
}
