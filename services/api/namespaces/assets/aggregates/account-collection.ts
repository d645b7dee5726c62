import type { Session } from '../../../database/index.ts'

/**
 * SQL that counts the assets of account `$1` in collection `$2` by schema and template. PostgreSQL reads the assets by
 * an index-only scan.
 */
const HELD = `SELECT s.schema_name, a.template_id, count(*) AS assets FROM assets.schemas s
    JOIN assets.assets a ON a.schema_key = s.schema_key
  WHERE a.owner = $1::text AND s.collection_name = $2::text GROUP BY 1, 2`

/**
 * SQL of a JSON text with the number of assets by schema and by template, computed from the WITH item `held`. The
 * largest numbers come first.
 */
const RECORD = `concat('{"schemas":', coalesce((SELECT json_agg(json_build_object('schema_name', s.schema_name,
        'assets', s.assets::text) ORDER BY s.assets DESC, s.schema_name)
      FROM (SELECT schema_name, sum(assets) AS assets FROM held GROUP BY 1) s)::text, '[]'),
    ',"templates":', coalesce((SELECT json_agg(json_build_object('template_id', t.template_id::text,
        'assets', t.assets::text) ORDER BY t.assets DESC, t.template_id NULLS LAST)
      FROM (SELECT template_id, sum(assets) AS assets FROM held GROUP BY 1) t)::text, '[]'), '}')`

/**
 * Number of assets of a collection that an account owns, by schema and by template, as JSON text. The largest numbers
 * come first.
 */
export async function accountCollection(
  session: Session,
  account: string,
  collection: string,
): Promise<string> {
  const rows = await session.query<[record: string]>({
    name: 'account-collection',
    text: `WITH held AS MATERIALIZED (${HELD}) SELECT ${RECORD}`,
    values: [account, collection],
  })
  return rows[0]![0]
}
