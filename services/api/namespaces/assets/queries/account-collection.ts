import type { Session } from '../../../database/index.ts'

/** Groups of the assets themselves. */
const BY_ASSETS = `SELECT a.schema_name, a.template_id, count(*) AS assets FROM assets.assets a
  WHERE a.owner = $1::text AND a.collection_name = $2::text GROUP BY 1, 2`

/** The same, with the assets that have a template counted in the index of their owner, which knows the template alone. */
const BY_TEMPLATES = `SELECT t.schema_name, g.template_id, g.assets FROM g JOIN assets.templates t USING (template_id)
    WHERE t.collection_name = $2::text
  UNION ALL SELECT a.schema_name, NULL, count(*) FROM assets.assets a
    WHERE a.owner = $1::text AND a.template_id IS NULL AND a.collection_name = $2::text GROUP BY 1`
const OWNED_TEMPLATES = `g AS MATERIALIZED (SELECT a.template_id, count(*) AS assets FROM assets.assets a
  WHERE a.owner = $1::text AND a.template_id IS NOT NULL GROUP BY 1)`
const ARE_KNOWN = `NOT EXISTS (SELECT FROM g
  WHERE NOT EXISTS (SELECT FROM assets.templates t WHERE t.template_id = g.template_id))`

/** JSON text of groups, `held`; most first. */
const RECORD = `concat('{"schemas":', coalesce((SELECT json_agg(json_build_object('schema_name', s.schema_name,
        'assets', s.assets::text) ORDER BY s.assets DESC, s.schema_name)
      FROM (SELECT schema_name, sum(assets) AS assets FROM held GROUP BY 1) s)::text, '[]'),
    ',"templates":', coalesce((SELECT json_agg(json_build_object('template_id', t.template_id::text,
        'assets', t.assets::text) ORDER BY t.assets DESC, t.template_id NULLS LAST)
      FROM (SELECT template_id, sum(assets) AS assets FROM held GROUP BY 1) t)::text, '[]'), '}')`

/** How many assets of a collection an account owns, by schema and by template, as JSON text; most first. */
export async function accountCollection(
  session: Session,
  account: string,
  collection: string,
): Promise<string> {
  const rows = await session.query<[record: string | null]>({
    name: 'account-collection',
    text: `WITH ${OWNED_TEMPLATES}, held AS MATERIALIZED (${BY_TEMPLATES}) SELECT CASE WHEN ${ARE_KNOWN} THEN ${RECORD} END`,
    values: [account, collection],
  })
  return rows[0]![0] ?? groupedAssets(session, account, collection)
}

/** For an account that owns assets of a template that is not known. */
async function groupedAssets(session: Session, account: string, collection: string): Promise<string> {
  const rows = await session.query<[string]>({
    name: 'account-collection-assets',
    text: `WITH held AS (${BY_ASSETS}) SELECT ${RECORD}`,
    values: [account, collection],
  })
  return rows[0]![0]
}
