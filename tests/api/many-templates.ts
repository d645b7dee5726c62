import type pg from 'pg'

/** One more template than a filter on template data may list by id; see `resolveTemplates`. */
const MANY = 2_001

/**
 * Adds copies of a template without assets, so that the filter `rarity=Common` matches too many templates to list them
 * by id.
 */
export async function addManyTemplates(client: pg.ClientBase): Promise<void> {
  await client.query(
    `INSERT INTO assets.templates SELECT (jsonb_populate_record(t, jsonb_build_object('template_id', 10000000 + n))).*
      FROM assets.templates t CROSS JOIN generate_series(1, ${MANY}) n
      WHERE t.template_id = (SELECT min(x.template_id) FROM assets.templates x WHERE x.immutable_data @> '{"rarity":"Common"}')`,
  )
  await client.query('ANALYZE assets.templates')
}
