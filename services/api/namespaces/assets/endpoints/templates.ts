import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { templateParameters, ofTemplate } from '../parameters.ts'
import { ofCollection } from '../../nft/parameters/index.ts'
import type { TemplateValues } from '../parameters.ts'
import { templateList } from '../lists/template-list.ts'
import type { AssetsSetup } from '../setup.ts'
import type { ListOfRecords } from '../../nft/endpoints/index.ts'
import { countEndpointOf, oneJson, runCount, runList } from '../../nft/endpoints/index.ts'

const notFound = { status: 404, message: 'Template not found' } as const

/** Endpoints of templates: list, count, and one template. */
export function templateEndpoints(setup: AssetsSetup): Endpoint[] {
  const records: ListOfRecords<TemplateValues> = {
    lists: setup.lists,
    list: (context) => templateList(setup.lists, setup.trigrams, context),
    kind: setup.records.template,
  }
  const list = endpoint({
    path: '/v1/templates',
    tag: 'templates',
    summary: 'Templates',
    parameters: templateParameters(setup.limits.templates),
    attributes: ['data', 'template_data'],
    record: shape.list(setup.records.template.schema),
    run: runList(records),
  })
  const one = endpoint({
    path: '/v1/templates/:collection_name/:template_id',
    tag: 'templates',
    summary: 'One template',
    parameters: { ...ofCollection, ...ofTemplate },
    record: setup.records.template.schema,
    failures: [notFound],
    cache: 'path',
    run: async ({ session, values }) => {
      const rows = await session.query({
        name: 'template-in-collection',
        text: 'SELECT 1 FROM assets.templates WHERE template_id = $1::bigint AND collection_name = $2::text',
        values: [values.template_id, values.collection_name],
      })
      if (rows.length === 0) throw new RequestError(notFound.status, notFound.message)
      return oneJson(session, String(values.template_id), setup.records.template, notFound)
    },
  })
  return [list, countEndpointOf(list, runCount(records)), one]
}
