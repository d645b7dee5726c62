-- One function did what two do, with the same result.
-- A statement that reads from it does not call it: it becomes a part of the statement.
CREATE FUNCTION market.each_trait(data jsonb) RETURNS SETOF integer LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 10 AS $$
  SELECT market.trait('data ' || e.key,
    CASE jsonb_typeof(e.value) WHEN 'number' THEN trim_scale(e.value::numeric)::text ELSE e.value::text END)
  FROM jsonb_each(data) e WHERE jsonb_typeof(e.value) NOT IN ('array', 'object')
$$;
COMMENT ON FUNCTION market.each_trait IS 'Numbers of the attributes of an asset that cannot change, lists left out';

CREATE OR REPLACE FUNCTION market.data_traits(data jsonb) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg(t.trait) FROM market.each_trait(data) t(trait)
$$;
COMMENT ON FUNCTION market.data_traits IS 'The same as an array; null without any';
