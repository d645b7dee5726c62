-- What listings are found by that their assets had from the mint on.

-- MD5 says the same on every machine and in every version of PostgreSQL, where the hash functions of its indexes need not.
CREATE FUNCTION market.trait(kind text, value text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ('x' || left(md5(kind || E'\x1f' || value), 8))::bit(32)::integer
$$;
COMMENT ON FUNCTION market.trait IS 'Number of something that an asset has; different things may have the same one. Null for null';

-- A statement that reads from it does not call it: it becomes a part of the statement.
CREATE FUNCTION market.each_trait(data jsonb) RETURNS SETOF integer LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 10 AS $$
  SELECT market.trait('data ' || e.key,
    CASE jsonb_typeof(e.value) WHEN 'number' THEN trim_scale(e.value::numeric)::text ELSE e.value::text END)
  FROM jsonb_each(data) e WHERE jsonb_typeof(e.value) NOT IN ('array', 'object')
$$;
COMMENT ON FUNCTION market.each_trait IS 'Numbers of the attributes of an asset that cannot change, lists left out';

CREATE FUNCTION market.data_traits(data jsonb) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg(t.trait) FROM market.each_trait(data) t(trait)
$$;
COMMENT ON FUNCTION market.data_traits IS 'The same as an array; null without any';

CREATE FUNCTION market.asset_traits(minter text, receiver text, data jsonb) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT v.trait ORDER BY v.trait), '{}')
  FROM unnest(market.data_traits(data) || market.trait('minter', minter) || market.trait('receiver', receiver)) v(trait)
  WHERE v.trait IS NOT NULL
$$;
COMMENT ON FUNCTION market.asset_traits IS 'Numbers of what an asset has from the mint on, distinct and ascending: minter, initial receiver, attributes that cannot change';

ALTER TABLE market.sales ADD traits integer[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN market.sales.traits IS 'market.asset_traits of the assets, distinct and ascending';
ALTER TABLE market.auctions ADD traits integer[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN market.auctions.traits IS 'market.asset_traits of the assets, distinct and ascending';
ALTER TABLE market.buyoffers ADD traits integer[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN market.buyoffers.traits IS 'market.asset_traits of the assets, distinct and ascending';

DO $$
DECLARE
  listing record;
BEGIN
  FOR listing IN VALUES ('sales'), ('auctions'), ('buyoffers') LOOP
    EXECUTE format('ALTER TABLE undo.market_%1$s ADD traits integer[]', listing.column1);
    EXECUTE format($q$
      UPDATE market.%1$I l SET traits = coalesce((
        SELECT array_agg(DISTINCT t.trait ORDER BY t.trait)
        FROM assets.assets a CROSS JOIN unnest(market.asset_traits(a.minter, a.initial_receiver, a.immutable_data)) t(trait)
        WHERE a.asset_id = ANY(l.asset_ids)), '{}')$q$, listing.column1);
  END LOOP;
END $$;
UPDATE undo.market_sales u SET traits = l.traits FROM market.sales l WHERE l.sale_id = u.sale_id;
UPDATE undo.market_auctions u SET traits = l.traits FROM market.auctions l WHERE l.auction_id = u.auction_id;
UPDATE undo.market_buyoffers u SET traits = l.traits FROM market.buyoffers l WHERE l.buyoffer_id = u.buyoffer_id;
