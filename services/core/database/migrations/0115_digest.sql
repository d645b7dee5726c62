-- Digests: two databases of the same chain at the same block have equal ones, whatever led there. Columns go by name,
-- rows in no order, so neither the age of a table nor the order of arrival matters.
--
-- Left out is what depends on the road or on settings: positions, leases, heartbeats, journals, reversible blocks, the
-- feed, named lists, API keys, ended versions of the kept state; the names of readers; columns that are computed from
-- others of their row.

-- Tables that hold what the chain says.
CREATE FUNCTION chain.digest_tables() RETURNS TABLE (name text) LANGUAGE sql STABLE AS $$
  SELECT v.name FROM (
    SELECT n.nspname || '.' || c.relname AS name, n.nspname AS home, c.relname AS own
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
  ) v
  WHERE v.home IN ('assets', 'market', 'oracle', 'tools') AND v.own <> 'log_actions'
    OR v.name IN ('chain.identity', 'chain.abis', 'chain.code_accounts', 'state.rows', 'state.links', 'state.permissions')
  ORDER BY v.name COLLATE "C"
$$;
COMMENT ON FUNCTION chain.digest_tables IS 'Tables that digests are of';

-- MD5 says the same on every machine and in every version of PostgreSQL; its halves are added up, so that the order of
-- rows does not matter and equal rows count. What text a value has depends on settings: they are fixed here.
CREATE FUNCTION chain.digest(target regclass) RETURNS TABLE (row_count bigint, digest text) LANGUAGE plpgsql STABLE
SET extra_float_digits = 1 SET bytea_output = 'hex' SET TimeZone = 'UTC' SET DateStyle = 'ISO' SET jit = off AS $$
DECLARE
  columns text := (
    SELECT string_agg(CASE
        -- A listing of a single asset may repeat as lists what it has in columns of its own.
        WHEN n.nspname = 'market' AND a.attname IN ('template_ids', 'schema_names') THEN format('CASE WHEN asset_count > 1 THEN %I END', a.attname)
        WHEN a.atttypid = 'numeric'::regtype THEN format('trim_scale(%I)', a.attname)
        ELSE format('%I', a.attname) END, ', ' ORDER BY a.attname COLLATE "C")
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE a.attrelid = target AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attname <> 'reader');
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT count(*), md5(count(*) || '' '' || coalesce(sum((''x'' || left(md5(ROW(%s)::text), 16))::bit(64)::bigint), 0)) FROM %s',
    columns, target);
END $$;
COMMENT ON FUNCTION chain.digest IS 'Number of rows of a table, and a digest of what they hold, in whatever order';

CREATE FUNCTION chain.digests() RETURNS TABLE (name text, row_count bigint, digest text) LANGUAGE sql STABLE AS $$
  SELECT t.name, d.row_count, d.digest FROM chain.digest_tables() t CROSS JOIN LATERAL chain.digest(t.name::regclass) d
  ORDER BY t.name COLLATE "C"
$$;
COMMENT ON FUNCTION chain.digests IS 'The digest of each table that holds what the chain says';

-- Tables without rows do not count: one that a later version adds changes nothing before it is filled.
CREATE FUNCTION chain.join_digests(names text[], digests text[], row_counts bigint[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT md5(coalesce(string_agg(t.name || ' ' || t.digest, E'\n' ORDER BY t.name COLLATE "C") FILTER (WHERE t.row_count > 0), ''))
  FROM unnest(names, digests, row_counts) t(name, digest, row_count)
$$;
COMMENT ON FUNCTION chain.join_digests IS 'One digest for all tables';

-- What a backup says of itself, and a restore compares with.
CREATE FUNCTION chain.digest_summary() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object(
    'all', chain.join_digests(coalesce(array_agg(d.name), '{}'), array_agg(d.digest), array_agg(d.row_count)),
    'tables', coalesce(jsonb_object_agg(d.name, d.digest) FILTER (WHERE d.row_count > 0), '{}'))
  FROM chain.digests() d
$$;
COMMENT ON FUNCTION chain.digest_summary IS 'The digest of all tables, and of each that has rows';
