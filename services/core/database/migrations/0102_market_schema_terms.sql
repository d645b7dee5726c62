-- Listings are found by their schema together with its collection, as names of schemas are the same in many. The index
-- of the terms, and others on expressions, have all rows: of a part PostgreSQL takes no statistics of expressions.

DROP INDEX IF EXISTS market.sales_terms_idx, market.auctions_terms_idx, market.buyoffers_terms_idx,
  market.template_buyoffers_terms_idx, market.sales_state_asked_idx, market.sales_collection_asked_idx, market.sales_name_head_idx;
DROP FUNCTION market.listing_terms;

-- Written as one expression: a statement that reads from it does not call it, as it becomes a part of the statement.
CREATE FUNCTION market.listing_terms(
  traits integer[], template_id integer, template_ids integer[], schema_name text, schema_names text[], asset_count smallint,
  collection_name text, buyer text, maker text, taker text, symbol text, seller text, state smallint
) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_remove(traits || template_ids || ARRAY[
    coalesce(template_id, market.trait('is', 'plain')),
    CASE WHEN asset_count > 1 THEN market.trait('is', 'bundle') END,
    CASE WHEN cardinality(schema_names) > 2 THEN market.trait('is', 'schemas') END,
    market.trait('schema', collection_name || '/' || coalesce(schema_name, schema_names[1])),
    CASE WHEN cardinality(schema_names) > 1 THEN market.trait('schema', collection_name || '/' || schema_names[2]) END,
    market.trait('buyer', buyer), market.trait('maker', maker), market.trait('taker', taker), market.trait('symbol', symbol),
    CASE WHEN state IS NOT NULL THEN market.trait('collection', collection_name) END,
    market.trait('seller', seller), market.trait('state', state::text)], NULL)
$$;
COMMENT ON FUNCTION market.listing_terms IS 'What a listing is found by: traits of its assets, numbers of its templates, and numbers of what else it has (see market.trait); is plain: no template of its own, is schemas: more than two of them. Of sales seller and state are null: they, and the collection, lead other indexes';
