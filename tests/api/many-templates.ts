import type pg from 'pg'

/** More templates than a filter on their data names; see `resolveTemplates`. */
const MANY = 2_001

/** Adds copies of a template that have no assets: the filter on its rarity, Common, then matches too many templates to name them. */
export async function addManyTemplates(client: pg.ClientBase): Promise<void> {
  await client.query(
    `INSERT INTO assets.templates SELECT (jsonb_populate_record(t, jsonb_build_object('template_id', 10000000 + n))).*
      FROM assets.templates t CROSS JOIN generate_series(1, ${MANY}) n
      WHERE t.template_id = (SELECT min(x.template_id) FROM assets.templates x WHERE x.immutable_data @> '{"rarity":"Common"}')`,
  )
  await client.query('ANALYZE assets.templates')
}
