-- One function was missing.
-- Template immutable data go before asset immutable, asset mutable and template mutable data.
CREATE FUNCTION market.asset_name(
  template_immutable jsonb, asset_immutable jsonb, asset_mutable jsonb, template_mutable jsonb
) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN template_immutable ? 'name' THEN template_immutable
    WHEN asset_immutable ? 'name' THEN asset_immutable
    WHEN asset_mutable ? 'name' THEN asset_mutable
    ELSE template_mutable END ->> 'name'
$$;
COMMENT ON FUNCTION market.asset_name IS 'Attribute name of the merged data of an asset';
