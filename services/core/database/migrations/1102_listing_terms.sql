-- Terms of listings that have no template, by collection: searches by name in one collection read few others. The indexes
-- of the terms are built again online.

DROP INDEX IF EXISTS market.sales_terms_idx;
DROP INDEX IF EXISTS market.auctions_terms_idx;
DROP INDEX IF EXISTS market.buyoffers_terms_idx;
DROP INDEX IF EXISTS market.template_buyoffers_terms_idx;

-- Not of one SQL expression: that would become a part of every statement, which takes longer to plan than to call it.
CREATE OR REPLACE FUNCTION market.listing_terms(
  traits integer[], template_id integer, template_ids integer[], schema_name text, schema_names text[], asset_count smallint,
  collection_name text, buyer text, maker text, taker text, symbol text, seller text, state smallint
) RETURNS integer[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 20 AS $$
BEGIN
  RETURN array_remove(traits || template_ids || ARRAY[
    coalesce(template_id, market.trait('is', 'plain')),
    CASE WHEN template_id IS NULL THEN market.trait('plain', collection_name) END,
    CASE WHEN asset_count > 1 THEN market.trait('is', 'bundle') END,
    CASE WHEN cardinality(schema_names) > 2 THEN market.trait('is', 'schemas') END,
    market.trait('schema', collection_name || '/' || coalesce(schema_name, schema_names[1])),
    CASE WHEN cardinality(schema_names) > 1 THEN market.trait('schema', collection_name || '/' || schema_names[2]) END,
    market.trait('buyer', buyer), market.trait('maker', maker), market.trait('taker', taker), market.trait('symbol', symbol),
    CASE WHEN state IS NOT NULL THEN market.trait('collection', collection_name) END,
    market.trait('seller', seller), market.trait('state', state::text)], NULL);
END
$$;
COMMENT ON FUNCTION market.listing_terms IS 'What a listing is found by: traits of its assets, numbers of its templates, and numbers of what else it has (see market.trait); is plain, and plain with its collection: no template of its own, is schemas: more than two of them. Of sales seller and state are null: they, and the collection, lead other indexes';
