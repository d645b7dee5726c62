/** SQL of an asset's name, from the attributes of the asset and of its template. */
export const nameSql = (alias: string) => `
  (SELECT (coalesce(t.mutable_data, '{}') || coalesce(${alias}.mutable_data, '{}') || coalesce(${alias}.immutable_data, '{}')
    || coalesce(t.immutable_data, '{}')) ->> 'name' FROM (SELECT 1) one LEFT JOIN assets.templates t ON t.template_id = ${alias}.template_id)`

/** SQL of the column `traits`: hashes of minter, receiver and attributes of the assets `g` that match `condition`. */
export const traitsSql = (condition: string) => `
  (SELECT coalesce(array_agg(DISTINCT t.trait ORDER BY t.trait), '{}') FROM assets.assets g, LATERAL (
    SELECT market.trait('minter', g.minter) UNION ALL SELECT market.trait('receiver', g.initial_receiver)
    UNION ALL SELECT unnest(market.data_traits(g.immutable_data))) t(trait)
    WHERE ${condition} AND t.trait IS NOT NULL)`

/** Columns of a listing whose values follow from the assets of the listing. */
export const describedColumns: readonly string[] = [
  'min_mint',
  'max_mint',
  'template_ids',
  'schema_names',
  'traits',
  'name',
  'template_id',
  'schema_name',
  'asset_names',
]

/**
 * Statement that computes columns of a listing `l` from its assets: the columns that repeat values of the assets.
 * Returns one row.
 */
export const listingFacts = `
    SELECT min(a.template_mint) AS min_mint, max(a.template_mint) AS max_mint,
      CASE WHEN cardinality(l.asset_ids) > 1
        THEN coalesce(array_agg(DISTINCT a.template_id ORDER BY a.template_id) FILTER (WHERE a.template_id IS NOT NULL), '{}') END AS template_ids,
      CASE WHEN cardinality(l.asset_ids) > 1 THEN coalesce(array_agg(DISTINCT a.schema_name ORDER BY a.schema_name), '{}') END AS schema_names,
      ${traitsSql('g.asset_id = ANY(l.asset_ids)')} AS traits,
      (SELECT ${nameSql('b')} FROM assets.assets b WHERE b.asset_id = l.asset_ids[1]) AS name,
      CASE WHEN cardinality(l.asset_ids) = 1 THEN min(a.template_id) END AS template_id,
      CASE WHEN cardinality(l.asset_ids) = 1 THEN min(a.schema_name) END AS schema_name,
      (SELECT string_agg(n, E'\\n' ORDER BY place) FROM (
        SELECT n, min(place) AS place FROM (
          SELECT ${nameSql('b')} AS n, g.place FROM unnest(l.asset_ids) WITH ORDINALITY g(id, place) JOIN assets.assets b ON b.asset_id = g.id
        ) y GROUP BY n) z) AS asset_names
    FROM assets.assets a WHERE a.asset_id = ANY(l.asset_ids)`
