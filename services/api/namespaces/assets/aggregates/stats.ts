import type { Session } from '../../../database/index.ts'
import {
  assetStatsRecord,
  collectionStatsRecord,
  schemaStatsRecord,
  templateStatsRecord,
} from '../records/stats-schemas.ts'

const BURNED_BY_TEMPLATE = `SELECT t.template_id, n.burned FROM assets.templates t JOIN assets.template_counts n USING (template_id)
    WHERE t.collection_name = $1::text AND n.burned > 0`

/**
 * Query of the statistics of a collection. The WITH item `r` has the number of burned assets by template. Template 0
 * stands for assets without a template: all burned assets of the collection minus the burned assets of its templates.
 */
const COLLECTION = `WITH k AS (SELECT minted, burned FROM assets.collection_counts WHERE collection_name = $1::text),
    b AS (${BURNED_BY_TEMPLATE}),
    r AS (SELECT template_id, burned FROM b UNION ALL
      SELECT 0, k.burned - coalesce((SELECT sum(burned) FROM b), 0)::bigint FROM k)
  SELECT ${collectionStatsRecord.packed}`

const SCHEMA = `WITH k AS (SELECT minted, burned FROM assets.schema_counts
      WHERE collection_name = $1::text AND schema_name = $2::text)
  SELECT ${schemaStatsRecord.packed}`

const TEMPLATE = `SELECT ${templateStatsRecord.packed}
  FROM (SELECT) one LEFT JOIN assets.template_counts n ON n.template_id = $1::bigint`

const ASSET = `SELECT ${assetStatsRecord.packed} FROM assets.assets a WHERE a.asset_id = $1::bigint`

const LIVE_SCHEMAS = `SELECT coalesce(json_agg(json_build_object('schema_name', n.schema_name) ORDER BY n.schema_name), '[]')::text
  FROM assets.schema_counts n WHERE n.collection_name = $1::text AND n.minted > n.burned`

/**
 * Statistics of a collection as JSON text: number of assets, of burned assets by template and by schema, of templates,
 * and of schemas.
 */
export async function collectionStats(session: Session, collection: string): Promise<string> {
  return collectionStatsRecord.read(await one(session, 'collection-stats', COLLECTION, [collection]))[0]!
}

/** Statistics of a schema as JSON text: numbers of assets, burned assets and templates. */
export async function schemaStats(session: Session, collection: string, schema: string): Promise<string> {
  return schemaStatsRecord.read(await one(session, 'schema-stats', SCHEMA, [collection, schema]))[0]!
}

/** Statistics of a template as JSON text: numbers of assets and burned assets. */
export async function templateStats(session: Session, templateId: bigint): Promise<string> {
  return templateStatsRecord.read(await one(session, 'template-stats', TEMPLATE, [templateId]))[0]!
}

/** Statistics of an asset as JSON text: its mint number. Undefined if no such asset exists. */
export async function assetStats(session: Session, assetId: bigint): Promise<string | undefined> {
  const rows = await session.query<[string]>({ name: 'asset-stats', text: ASSET, values: [assetId] })
  return assetStatsRecord.read(rows[0]?.[0])[0]
}

/**
 * Names of the schemas of a collection, as JSON text. A schema is left out if all its assets are burned or if it has no
 * assets.
 */
export async function liveSchemas(session: Session, collection: string): Promise<string> {
  return one(session, 'collection-live-schemas', LIVE_SCHEMAS, [collection])
}

async function one(
  session: Session,
  name: string,
  text: string,
  values: readonly (string | bigint)[],
): Promise<string> {
  const rows = await session.query<[string]>({ name, text, values })
  return rows[0]![0]
}
