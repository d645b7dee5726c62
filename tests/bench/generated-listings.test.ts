import { afterAll, beforeAll, expect, it } from 'vitest'
import type pg from 'pg'
import { generateDatabase, scaledSizes } from '../../scripts/bench/generated/index.ts'
import { connectDatabase } from '../../services/core/database/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'

let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  database = await createTestDatabase()
  await generateDatabase(database.address, { sizes: scaledSizes(0.005), seed: 'listings' })
  client = await connectDatabase(database.address, { applicationName: 'test' })
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Columns of a listing that follow from the rows of its assets, in SQL. */
const DERIVED = `
  SELECT count(*)::int AS asset_count, min(n.template_mint) AS min_mint, max(n.template_mint) AS max_mint,
    CASE WHEN count(*) = 1 THEN min(n.template_id) END AS template_id,
    CASE WHEN count(*) = 1 THEN min(n.schema_name) END AS schema_name,
    CASE WHEN count(*) > 1 THEN coalesce(array_agg(DISTINCT n.template_id ORDER BY n.template_id)
      FILTER (WHERE n.template_id IS NOT NULL), '{}') END AS template_ids,
    CASE WHEN count(*) > 1 THEN array_agg(DISTINCT n.schema_name ORDER BY n.schema_name) END AS schema_names,
    (SELECT array_agg(DISTINCT trait ORDER BY trait) FROM assets.assets b
      CROSS JOIN unnest(market.asset_traits(b.minter, b.initial_receiver, b.immutable_data)) trait
      WHERE b.asset_id = ANY(l.asset_ids)) AS traits,
    (array_agg(m.name ORDER BY n.asset_id))[1] AS name, string_agg(DISTINCT m.name, E'\\n' ORDER BY m.name) AS asset_names
  FROM assets.assets n LEFT JOIN assets.templates t USING (template_id)
    CROSS JOIN LATERAL (SELECT (coalesce(t.mutable_data, '{}') || coalesce(n.mutable_data, '{}')
      || coalesce(n.immutable_data, '{}') || coalesce(t.immutable_data, '{}')) ->> 'name' AS name) m
  WHERE n.asset_id = ANY(l.asset_ids)`

const derivedColumns = [
  ...['asset_count', 'min_mint', 'max_mint', 'template_id', 'schema_name'],
  ...['template_ids', 'schema_names', 'traits', 'name', 'asset_names'],
]

it.each(['sales', 'auctions', 'buyoffers'])(
  'in generated %s, the columns derived from assets equal the values that an SQL query derives',
  async (table) => {
    const differing = derivedColumns.map(
      (column) => `count(*) FILTER (WHERE l.${column} IS DISTINCT FROM d.${column})::int AS ${column}`,
    )
    const { rows } = await client.query<Record<string, number>>(
      `SELECT count(*)::int AS listings, count(*) FILTER (WHERE l.asset_count > 1)::int AS bundles, ${differing.join(', ')}
       FROM market.${table} l CROSS JOIN LATERAL (${DERIVED}) d`,
    )
    const { listings, bundles, ...columns } = rows[0]!
    expect(listings).toBeGreaterThan(100)
    expect(bundles).toBeGreaterThan(0)
    expect(columns).toEqual(Object.fromEntries(derivedColumns.map((column) => [column, 0])))
  },
)
