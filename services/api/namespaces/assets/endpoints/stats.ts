import type { Endpoint, Parameter } from '../../../endpoint/index.ts'
import { RequestError, shape } from '../../../endpoint/index.ts'
import { assetStats, collectionStats, liveSchemas, schemaStats, templateStats } from '../counters/index.ts'
import {
  assetStatsRecord,
  collectionSchemaRecord,
  collectionStatsRecord,
  schemaStatsRecord,
  templateStatsRecord,
} from '../records/index.ts'

const NO_ASSET = { status: 416, message: 'Asset not found' } as const

const collectionName: Parameter = {
  name: 'collection_name',
  in: 'path',
  type: 'string',
  description: 'Collection.',
}
const templateId: Parameter = { name: 'template_id', in: 'path', type: 'id', description: 'Template.' }

const ofTemplate = {
  tag: 'templates',
  summary: 'How many assets a template has',
  record: templateStatsRecord,
  cache: 'path',
  run: ({ session, values }) => templateStats(session, values.id('template_id')!),
} as const satisfies Partial<Endpoint>

/**
 * The `/stats` of assets, collections, schemas and templates, and the schemas that a collection uses. They come before
 * the single records: `/v1/templates/1/stats` is no template of a collection.
 */
export const statsEndpoints: readonly Endpoint[] = [
  {
    path: '/v1/assets/:asset_id/stats',
    tag: 'assets',
    summary: 'Mint number of an asset',
    parameters: [{ name: 'asset_id', in: 'path', type: 'id', description: 'Asset.' }],
    record: assetStatsRecord,
    failures: [NO_ASSET],
    cache: 'path',
    run: async ({ session, values }) => {
      const text = await assetStats(session, values.id('asset_id')!)
      if (text === undefined) throw new RequestError(NO_ASSET.status, NO_ASSET.message)
      return text
    },
  },
  {
    path: '/v1/collections/:collection_name/stats',
    tag: 'collections',
    summary: 'How many assets, templates and schemas a collection has',
    parameters: [collectionName],
    record: collectionStatsRecord,
    cache: 'path',
    run: ({ session, values }) => collectionStats(session, values.text('collection_name')!),
  },
  {
    path: '/v1/collections/:collection_name/schemas',
    tag: 'collections',
    summary: 'Schemas of a collection with assets that are not burned',
    parameters: [collectionName],
    record: shape.list(collectionSchemaRecord),
    cache: 'path',
    run: ({ session, values }) => liveSchemas(session, values.text('collection_name')!),
  },
  {
    path: '/v1/schemas/:collection_name/:schema_name/stats',
    tag: 'schemas',
    summary: 'How many assets and templates a schema has',
    parameters: [collectionName, { name: 'schema_name', in: 'path', type: 'string', description: 'Schema.' }],
    record: schemaStatsRecord,
    cache: 'path',
    run: ({ session, values }) =>
      schemaStats(session, values.text('collection_name')!, values.text('schema_name')!),
  },
  {
    ...ofTemplate,
    path: '/v1/templates/:collection_name/:template_id/stats',
    parameters: [collectionName, templateId],
  },
  { ...ofTemplate, path: '/v1/templates/:template_id/stats', parameters: [templateId] },
]
