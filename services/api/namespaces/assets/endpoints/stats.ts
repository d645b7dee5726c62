import { id, inPath } from '../../../../core/parameters/index.ts'
import type { Endpoint } from '../../../endpoint/index.ts'
import { endpoint, shape } from '../../../endpoint/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { assetStats, collectionStats, liveSchemas, schemaStats, templateStats } from '../aggregates/stats.ts'
import {
  assetStatsRecord,
  collectionSchemaRecord,
  collectionStatsRecord,
  schemaStatsRecord,
  templateStatsRecord,
} from '../records/stats-schemas.ts'
import { ofCollection } from '../../nft/parameters/index.ts'
import { ofSchema, ofTemplate } from '../parameters.ts'

const noAsset = { status: 416, message: 'Asset not found' } as const

function templateStatsAt(path: string, parameters: typeof ofTemplate): Endpoint {
  return endpoint({
    path,
    tag: 'templates',
    summary: 'Number of minted and of burned assets of a template',
    parameters,
    record: templateStatsRecord.schema,
    cache: 'path',
    run: ({ session, values }) => templateStats(session, values.template_id),
  })
}

/**
 * Endpoints `/stats` of assets, collections, schemas and templates, and the endpoint of the schemas that a collection
 * uses. Their paths are matched before the paths of single records: `/v1/templates/1/stats` would otherwise be template
 * `stats` of collection `1`.
 */
export const statsEndpoints: readonly Endpoint[] = [
  endpoint({
    path: '/v1/assets/:asset_id/stats',
    tag: 'assets',
    summary: 'Mint number of an asset',
    parameters: { asset_id: inPath(id('Id of the asset.')) },
    record: assetStatsRecord.schema,
    failures: [noAsset],
    cache: 'path',
    run: async ({ session, values }) => {
      const text = await assetStats(session, values.asset_id)
      if (text === undefined) throw new RequestError(noAsset.status, noAsset.message)
      return text
    },
  }),
  endpoint({
    path: '/v1/collections/:collection_name/stats',
    tag: 'collections',
    summary: 'Number of assets, templates and schemas of a collection',
    parameters: ofCollection,
    record: collectionStatsRecord.schema,
    cache: 'path',
    run: ({ session, values }) => collectionStats(session, values.collection_name),
  }),
  endpoint({
    path: '/v1/collections/:collection_name/schemas',
    tag: 'collections',
    summary: 'Schemas of a collection with assets that are not burned',
    parameters: ofCollection,
    record: shape.list(collectionSchemaRecord),
    cache: 'path',
    run: ({ session, values }) => liveSchemas(session, values.collection_name),
  }),
  endpoint({
    path: '/v1/schemas/:collection_name/:schema_name/stats',
    tag: 'schemas',
    summary: 'Number of assets and templates of a schema',
    parameters: ofSchema,
    record: schemaStatsRecord.schema,
    cache: 'path',
    run: ({ session, values }) => schemaStats(session, values.collection_name, values.schema_name),
  }),
  templateStatsAt('/v1/templates/:collection_name/:template_id/stats', { ...ofCollection, ...ofTemplate }),
  templateStatsAt('/v1/templates/:template_id/stats', ofTemplate),
]
