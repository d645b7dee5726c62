-- Collection and schema as one number, which leads the indexes of assets in place of two names.

-- MD5 says the same on every machine and in every version of PostgreSQL.
ALTER TABLE assets.schemas ADD schema_key bigint NOT NULL
  GENERATED ALWAYS AS (('x' || left(md5(collection_name || '/' || schema_name), 16))::bit(64)::bigint) STORED;
COMMENT ON COLUMN assets.schemas.schema_key IS 'First 64 bits of the MD5 of collection/schema';
CREATE UNIQUE INDEX schemas_key_idx ON assets.schemas (schema_key);

-- Texts of mutable attributes are found by an index on their expression instead.
ALTER TABLE assets.assets DROP mutable_digest;

ALTER TABLE assets.assets ADD schema_key bigint NOT NULL
  GENERATED ALWAYS AS (('x' || left(md5(collection_name || '/' || schema_name), 16))::bit(64)::bigint) STORED;
COMMENT ON COLUMN assets.assets.schema_key IS 'Key of its schema, see assets.schemas';

-- How a walk by the names of templates is estimated, and how many rows a value of the key has.
ALTER TABLE assets.assets ALTER schema_key SET STATISTICS 500;

-- Indexes that no access path uses any more; those that do are built online when a reader is at the head.
DROP INDEX IF EXISTS assets.assets_holdings_idx, assets.assets_owner_templates_idx, assets.assets_owner_digest_idx,
  assets.assets_template_mutable_idx, assets.assets_digest_updated_idx, assets.assets_burned_idx,
  assets.assets_burned_by_idx, assets.assets_collection_idx, assets.assets_schema_owner_idx,
  assets.assets_template_idx, assets.assets_bare_idx, assets.assets_bare_owner_idx, assets.assets_mint_idx,
  assets.assets_minted_by_idx, assets.assets_minter_templates_idx, assets.assets_minter_owner_idx,
  assets.assets_received_idx, assets.assets_immutable_data_idx, assets.assets_mutable_data_idx,
  assets.assets_immutable_name_idx, assets.assets_mutable_name_idx, assets.assets_own_name_idx,
  assets.assets_bare_name_idx, assets.assets_template_own_name_idx, assets.assets_burned_updated_idx,
  assets.assets_burned_transferred_idx, assets.assets_burned_mint_idx;
