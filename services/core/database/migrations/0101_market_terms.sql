-- What lists of listings are found by, in one index of each table, and what prices of sales are sorted by.

-- Written as one expression: a statement that reads from it does not call it, as it becomes a part of the statement.
CREATE FUNCTION market.listing_terms(
  traits integer[], template_id integer, template_ids integer[], schema_name text, schema_names text[], asset_count smallint,
  buyer text, maker text, taker text, symbol text, seller text, collection_name text, state smallint
) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_remove(traits || template_ids || ARRAY[
    coalesce(template_id, market.trait('is', 'plain')),
    CASE WHEN asset_count > 1 THEN market.trait('is', 'bundle') END,
    CASE WHEN cardinality(schema_names) > 2 THEN market.trait('is', 'schemas') END,
    market.trait('schema', coalesce(schema_name, schema_names[1])),
    CASE WHEN cardinality(schema_names) > 1 THEN market.trait('schema', schema_names[2]) END,
    market.trait('buyer', buyer), market.trait('maker', maker), market.trait('taker', taker), market.trait('symbol', symbol),
    market.trait('seller', seller), market.trait('collection', collection_name), market.trait('state', state::text)], NULL)
$$;
COMMENT ON FUNCTION market.listing_terms IS 'What a listing is found by: traits of its assets, numbers of its templates, and numbers of what else it has (see market.trait); is plain: no template of its own, is schemas: more than two of them';

CREATE FUNCTION market.priced_by(price bigint, listing_symbol text, settlement_symbol text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN price IS NULL THEN market.trait('pair', listing_symbol || '/' || settlement_symbol) ELSE 0 END
$$;
COMMENT ON FUNCTION market.priced_by IS '0 for a sale with a price, else the number of the symbol pair that an oracle prices it by: of each the listing price grows with the price';

CREATE FUNCTION market.payout_terms(kind smallint, category smallint, symbol text, listing_id bigint, asset_id bigint) RETURNS integer[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_remove(ARRAY[market.trait('kind', kind::text), market.trait('category', category::text),
    market.trait('symbol', symbol), market.trait('listing', listing_id::text), market.trait('asset', asset_id::text)], NULL)
$$;
COMMENT ON FUNCTION market.payout_terms IS 'What a royalty payout is found by: numbers of what it has (see market.trait)';

-- The few sales without an offer are counted by it, too.
CREATE INDEX sales_offer_idx ON market.sales (offer_id) WHERE state IN (1, 4) OR offer_id IS NULL;
DROP INDEX market.sales_open_offer_idx;

-- No update of a sale leaves all indexed columns as they were, so free space in its page is of no use to it.
ALTER TABLE market.sales SET (fillfactor = 100);

-- Indexes that no access path uses any more; those that do are built online when a reader is at the head.
DROP INDEX IF EXISTS market.sales_created_idx, market.sales_updated_idx, market.sales_state_idx, market.sales_price_idx,
  market.sales_oracle_price_idx, market.sales_settlement_idx, market.sales_mint_idx, market.sales_seller_idx,
  market.sales_buyer_idx, market.sales_collection_idx, market.sales_collection_price_idx,
  market.sales_of_template_idx, market.sales_templates_idx, market.sales_schemas_idx, market.sales_names_idx,
  market.sales_maker_idx, market.sales_taker_idx, market.auctions_mint_idx, market.auctions_seller_idx,
  market.auctions_buyer_idx, market.auctions_token_idx, market.auctions_collection_idx, market.auctions_templates_idx,
  market.auctions_schemas_idx, market.auctions_names_idx, market.buyoffers_mint_idx, market.buyoffers_seller_idx,
  market.buyoffers_buyer_idx, market.buyoffers_state_idx, market.buyoffers_token_idx, market.buyoffers_collection_idx,
  market.buyoffers_templates_idx, market.buyoffers_schemas_idx, market.buyoffers_names_idx,
  market.template_buyoffers_seller_idx, market.template_buyoffers_buyer_idx, market.template_buyoffers_collection_idx,
  market.sales_hidden_idx, market.sales_any_price_idx,
  market.sales_any_mint_idx, market.sales_any_oracle_price_idx, market.sales_listed_bundles_idx,
  market.sales_bundles_idx, market.sales_collection_mint_idx, market.sales_whole_name_idx, market.sales_long_name_idx,
  market.sales_collection_least_mint_idx, market.auctions_whole_name_idx, market.auctions_long_name_idx,
  market.auctions_collection_least_mint_idx, market.auctions_maker_idx, market.auctions_taker_idx,
  market.buyoffers_whole_name_idx, market.buyoffers_long_name_idx, market.buyoffers_collection_least_mint_idx,
  market.buyoffers_maker_idx, market.buyoffers_taker_idx, market.template_buyoffers_whole_name_idx,
  market.template_buyoffers_long_name_idx, market.template_buyoffers_collection_least_mint_idx,
  market.template_buyoffers_maker_idx, market.template_buyoffers_taker_idx, market.sales_state_whole_name_idx,
  market.auctions_template_idx, market.buyoffers_template_idx, market.sales_traits_idx,
  market.sales_listed_traits_idx, market.auctions_traits_idx, market.buyoffers_traits_idx,
  market.template_buyoffers_traits_idx, market.sales_bundle_templates_idx, market.auctions_bundle_templates_idx,
  market.buyoffers_bundle_templates_idx, market.sales_untold_names_idx, market.auctions_untold_names_idx,
  market.buyoffers_untold_names_idx, market.royalty_payouts_listing_idx, market.royalty_payouts_asset_idx,
  market.royalty_payouts_time_idx, market.royalty_payouts_kind_idx, market.royalty_payouts_category_idx,
  market.royalty_payouts_token_idx;
