-- What listings are found by that their assets had from the mint on.

CREATE FUNCTION market.trait(kind text, value text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT hashtext(kind || E'\x1f' || value)
$$;
COMMENT ON FUNCTION market.trait IS 'Number of something that an asset has; different things may have the same one. Null for null';

CREATE FUNCTION market.data_traits(data jsonb) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg(market.trait('data ' || e.key,
    CASE jsonb_typeof(e.value) WHEN 'number' THEN trim_scale(e.value::numeric)::text ELSE e.value::text END))
  FROM jsonb_each(data) e WHERE jsonb_typeof(e.value) NOT IN ('array', 'object')
$$;
COMMENT ON FUNCTION market.data_traits IS 'Numbers of the attributes of an asset that cannot change, lists left out; null without any';

-- The assets are rows of another table, but none of these columns ever changes, and an asset is there before its listing.
CREATE FUNCTION market.asset_traits(asset_ids bigint[]) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
  SELECT array_agg(DISTINCT v.trait)
  FROM assets.assets a CROSS JOIN LATERAL (
    SELECT market.trait('minter', a.minter) AS trait
    UNION ALL SELECT market.trait('receiver', a.initial_receiver)
    UNION ALL SELECT unnest(market.data_traits(a.immutable_data))
  ) v
  WHERE a.asset_id = ANY(asset_ids) AND v.trait IS NOT NULL
$$;
COMMENT ON FUNCTION market.asset_traits IS 'Numbers of what the assets of a listing had from the mint on: minters, initial receivers, attributes that cannot change; null without any';
