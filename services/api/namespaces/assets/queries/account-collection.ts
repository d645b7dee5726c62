import type { Session } from '../../../database/index.ts'

const TEXT = `WITH held AS (SELECT a.schema_name, a.template_id, count(*) AS assets FROM assets.assets a
      WHERE a.owner = $1::text AND a.collection_name = $2::text GROUP BY 1, 2)
  SELECT concat('{"schemas":', coalesce((SELECT json_agg(json_build_object('schema_name', s.schema_name,
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
  const rows = await session.query<[string]>({
    name: 'account-collection',
    text: TEXT,
    values: [account, collection],
  })
  return rows[0]![0]
}
