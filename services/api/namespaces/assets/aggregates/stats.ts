import type { Session } from '../../../database/index.ts'

const number = (expression: string): string => `coalesce('"' || ${expression} || '"', 'null')`

const BURNED_BY_TEMPLATE = `SELECT t.template_id, n.burned FROM assets.templates t JOIN assets.template_counts n USING (template_id)
    WHERE t.collection_name = $1::text AND n.burned > 0`

/** The number of burned assets without a template is that of all burned assets of the collection minus those of its templates; in answers it is template 0.
 */
const COLLECTION = `WITH k AS (SELECT minted, burned FROM assets.collection_counts WHERE collection_name = $1::text),
    b AS (${BURNED_BY_TEMPLATE}),
    r AS (SELECT template_id, burned FROM b UNION ALL
      SELECT 0, k.burned - coalesce((SELECT sum(burned) FROM b), 0)::bigint FROM k)
  SELECT concat('{"assets":', ${number('(SELECT minted FROM k)')}, ',"burned":', ${number('(SELECT burned FROM k)')},
    ',"burned_by_template":', coalesce((SELECT json_agg(json_build_object('burned', r.burned, 'template_id', r.template_id)
      ORDER BY r.burned DESC, r.template_id) FROM r WHERE r.burned > 0)::text, '[]'),
    ',"burned_by_schema":', coalesce((SELECT json_agg(json_build_object('burned', n.burned, 'schema_name', n.schema_name)
      ORDER BY n.burned DESC, n.schema_name)
      FROM assets.schema_counts n WHERE n.collection_name = $1::text AND n.burned > 0)::text, '[]'),
    ',"templates":"', (SELECT count(*) FROM assets.templates WHERE collection_name = $1::text),
    '","schemas":"', (SELECT count(*) FROM assets.schemas WHERE collection_name = $1::text), '"}')`

const SCHEMA = `WITH k AS (SELECT minted, burned FROM assets.schema_counts
      WHERE collection_name = $1::text AND schema_name = $2::text)
  SELECT concat('{"assets":', ${number('(SELECT minted FROM k)')}, ',"burned":', ${number('(SELECT burned FROM k)')},
    ',"templates":"', (SELECT count(*) FROM assets.templates
      WHERE collection_name = $1::text AND schema_name = $2::text), '"}')`

const TEMPLATE = `SELECT concat('{"assets":"', coalesce(n.minted, 0), '","burned":"', coalesce(n.burned, 0), '"}')
  FROM (SELECT) one LEFT JOIN assets.template_counts n ON n.template_id = $1::bigint`

/** The original of a moved asset is not known. */
const ASSET = `SELECT concat('{"template_mint":', CASE
    WHEN a.template_mint IS NULL AND a.template_id IS NOT NULL AND a.minted_at_block = 0 THEN 'null'
    ELSE concat('"', coalesce(a.template_mint, 0), '"') END, ',"original":null}')
  FROM assets.assets a WHERE a.asset_id = $1::bigint`

const LIVE_SCHEMAS = `SELECT coalesce(json_agg(json_build_object('schema_name', n.schema_name) ORDER BY n.schema_name), '[]')::text
  FROM assets.schema_counts n WHERE n.collection_name = $1::text AND n.minted > n.burned`

/** Statistics of a collection as JSON text: assets, burned ones by template and schema, templates, schemas. */
export async function collectionStats(session: Session, collection: string): Promise<string> {
  return one(session, 'collection-stats', COLLECTION, [collection])
}

/** Statistics of a schema as JSON text: assets, burned ones, templates. */
export async function schemaStats(session: Session, collection: string, schema: string): Promise<string> {
  return one(session, 'schema-stats', SCHEMA, [collection, schema])
}

/** Statistics of a template as JSON text: assets, burned ones. */
export async function templateStats(session: Session, templateId: bigint): Promise<string> {
  return one(session, 'template-stats', TEMPLATE, [templateId])
}

/** Statistics of an asset as JSON text: its mint number; undefined when there is no such asset. */
export async function assetStats(session: Session, assetId: bigint): Promise<string | undefined> {
  const rows = await session.query<[string]>({ name: 'asset-stats', text: ASSET, values: [assetId] })
  return rows[0]?.[0]
}

/** Names of the schemas of a collection with at least one asset that is not burned, as JSON text. */
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
