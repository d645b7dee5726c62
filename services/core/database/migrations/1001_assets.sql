-- The assets family: the NFT standard's collections, schemas, templates, assets, offers, transfers and logs.
-- One database holds one assets contract, so no row repeats its account.

-- Searches by resemblance; a trusted extension, so the owner of the database may create it.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE SCHEMA assets;
COMMENT ON SCHEMA assets IS 'NFT standard: collections, schemas, templates, assets, offers, transfers, logs';

CREATE TABLE assets.config (
  contract text COLLATE "C" PRIMARY KEY,
  standard text COLLATE "C",
  version text COLLATE "C",
  v2_since_block integer,
  asset_counter bigint,
  template_counter integer,
  offer_counter bigint,
  collection_format jsonb NOT NULL DEFAULT '[]'
);
COMMENT ON TABLE assets.config IS 'The contract''s own settings; one row';
COMMENT ON COLUMN assets.config.contract IS 'Contract account';
COMMENT ON COLUMN assets.config.standard IS 'Standard that the contract names in its tokenconfigs table';
COMMENT ON COLUMN assets.config.version IS 'Version that the contract names in its tokenconfigs table';
COMMENT ON COLUMN assets.config.v2_since_block IS 'Block in which version 2 or later was first seen';
COMMENT ON COLUMN assets.config.asset_counter IS 'Id of the next asset';
COMMENT ON COLUMN assets.config.template_counter IS 'Id of the next template';
COMMENT ON COLUMN assets.config.offer_counter IS 'Id of the next offer';
COMMENT ON COLUMN assets.config.collection_format IS 'Fields of collection data: [{name, type}]';

CREATE TABLE assets.tokens (
  token_symbol text COLLATE "C" PRIMARY KEY,
  token_precision integer NOT NULL,
  token_contract text COLLATE "C" NOT NULL
);
COMMENT ON TABLE assets.tokens IS 'Tokens that can back an asset';
COMMENT ON COLUMN assets.tokens.token_symbol IS 'Symbol code';
COMMENT ON COLUMN assets.tokens.token_precision IS 'Decimal places';
COMMENT ON COLUMN assets.tokens.token_contract IS 'Token contract account';

CREATE TABLE assets.balances (
  owner text COLLATE "C",
  token_symbol text COLLATE "C",
  amount bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  updated_at_block integer NOT NULL,
  PRIMARY KEY (owner, token_symbol)
);
COMMENT ON TABLE assets.balances IS 'Tokens that accounts have deposited with the contract';
COMMENT ON COLUMN assets.balances.owner IS 'Account';
COMMENT ON COLUMN assets.balances.token_symbol IS 'Symbol code';
COMMENT ON COLUMN assets.balances.amount IS 'Amount in units of the smallest decimal place; may be 0';
COMMENT ON COLUMN assets.balances.updated_at_time IS 'Time of the last change, ms since 1970';
COMMENT ON COLUMN assets.balances.updated_at_block IS 'Block of the last change';

CREATE TABLE assets.collections (
  collection_name text COLLATE "C" PRIMARY KEY,
  created_at_time bigint NOT NULL,
  market_fee double precision NOT NULL,
  created_at_block integer NOT NULL,
  allow_notify boolean NOT NULL,
  author text COLLATE "C" NOT NULL,
  authorized_accounts text[] COLLATE "C" NOT NULL,
  notify_accounts text[] COLLATE "C" NOT NULL,
  data jsonb NOT NULL
);
COMMENT ON TABLE assets.collections IS 'Collections';
COMMENT ON COLUMN assets.collections.collection_name IS 'Name, up to 13 characters';
COMMENT ON COLUMN assets.collections.created_at_time IS 'Time of creation, ms since 1970';
COMMENT ON COLUMN assets.collections.market_fee IS 'Share of each sale that goes to the collection, 0 to 0.15';
COMMENT ON COLUMN assets.collections.created_at_block IS 'Block of creation';
COMMENT ON COLUMN assets.collections.allow_notify IS 'Whether accounts may be added to notify_accounts';
COMMENT ON COLUMN assets.collections.author IS 'Account that owns the collection';
COMMENT ON COLUMN assets.collections.authorized_accounts IS 'Accounts that may mint and edit';
COMMENT ON COLUMN assets.collections.notify_accounts IS 'Accounts that are notified of events';
COMMENT ON COLUMN assets.collections.data IS 'Attributes, decoded with the contract''s collection format';

CREATE TABLE assets.author_swaps (
  collection_name text COLLATE "C" PRIMARY KEY,
  acceptance_date bigint NOT NULL,
  current_author text COLLATE "C" NOT NULL,
  new_author text COLLATE "C" NOT NULL
);
COMMENT ON TABLE assets.author_swaps IS 'Author successions that wait for acceptance (contract v2)';
COMMENT ON COLUMN assets.author_swaps.collection_name IS 'Collection';
COMMENT ON COLUMN assets.author_swaps.acceptance_date IS 'Earliest acceptance, seconds since 1970';
COMMENT ON COLUMN assets.author_swaps.current_author IS 'Author when the swap was created';
COMMENT ON COLUMN assets.author_swaps.new_author IS 'Author to be';

CREATE TABLE assets.schemas (
  collection_name text COLLATE "C",
  schema_name text COLLATE "C",
  created_at_time bigint NOT NULL,
  created_at_block integer NOT NULL,
  format jsonb NOT NULL,
  types jsonb,
  PRIMARY KEY (collection_name, schema_name)
);
COMMENT ON TABLE assets.schemas IS 'Schemas: which attributes assets of a kind have';
COMMENT ON COLUMN assets.schemas.collection_name IS 'Collection';
COMMENT ON COLUMN assets.schemas.schema_name IS 'Name within the collection';
COMMENT ON COLUMN assets.schemas.created_at_time IS 'Time of creation, ms since 1970';
COMMENT ON COLUMN assets.schemas.created_at_block IS 'Block of creation';
COMMENT ON COLUMN assets.schemas.format IS 'Fields in order: [{name, type}]';
COMMENT ON COLUMN assets.schemas.types IS 'Media types in order: [{name, mediatype, info}] (contract v2); null when none were ever set';

CREATE TABLE assets.templates (
  template_id integer PRIMARY KEY,
  created_at_block integer NOT NULL,
  created_at_time bigint NOT NULL,
  deleted_at_time bigint,
  max_supply bigint NOT NULL,
  issued_supply bigint NOT NULL,
  deleted_at_block integer,
  transferable boolean NOT NULL,
  burnable boolean NOT NULL,
  collection_name text COLLATE "C" NOT NULL,
  schema_name text COLLATE "C" NOT NULL,
  immutable_data jsonb NOT NULL,
  mutable_data jsonb
);
COMMENT ON TABLE assets.templates IS 'Templates: what many assets have in common';
COMMENT ON COLUMN assets.templates.template_id IS 'Id, from 1';
COMMENT ON COLUMN assets.templates.created_at_block IS 'Block of creation';
COMMENT ON COLUMN assets.templates.created_at_time IS 'Time of creation, ms since 1970';
COMMENT ON COLUMN assets.templates.deleted_at_time IS 'Time of deletion, ms since 1970 (contract v2)';
COMMENT ON COLUMN assets.templates.max_supply IS 'Greatest number of assets; 0 = unlimited';
COMMENT ON COLUMN assets.templates.issued_supply IS 'Assets minted so far; burning does not lower it';
COMMENT ON COLUMN assets.templates.deleted_at_block IS 'Block of deletion (contract v2)';
COMMENT ON COLUMN assets.templates.transferable IS 'Whether its assets can be transferred';
COMMENT ON COLUMN assets.templates.burnable IS 'Whether its assets can be burned';
COMMENT ON COLUMN assets.templates.collection_name IS 'Collection';
COMMENT ON COLUMN assets.templates.schema_name IS 'Schema';
COMMENT ON COLUMN assets.templates.immutable_data IS 'Attributes that never change';
COMMENT ON COLUMN assets.templates.mutable_data IS 'Attributes that may change (contract v2); null when none';

CREATE TABLE assets.assets (
  asset_id bigint PRIMARY KEY,
  minted_at_time bigint NOT NULL,
  transferred_at_time bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  burned_at_time bigint,
  minted_seq bigint,
  minted_at_block integer NOT NULL,
  transferred_at_block integer NOT NULL,
  updated_at_block integer NOT NULL,
  burned_at_block integer,
  template_id integer,
  template_mint integer,
  collection_name text COLLATE "C" NOT NULL,
  schema_name text COLLATE "C" NOT NULL,
  owner text COLLATE "C",
  ram_payer text COLLATE "C",
  minter text COLLATE "C",
  initial_receiver text COLLATE "C",
  burned_by_account text COLLATE "C",
  immutable_data jsonb,
  mutable_data jsonb
) WITH (fillfactor = 90);
COMMENT ON TABLE assets.assets IS 'Assets, burned ones included';
COMMENT ON COLUMN assets.assets.asset_id IS 'Id, from 2^40, ascending in mint order';
COMMENT ON COLUMN assets.assets.minted_at_time IS 'Time of the mint, ms since 1970';
COMMENT ON COLUMN assets.assets.transferred_at_time IS 'Time of the last transfer or the mint, ms since 1970';
COMMENT ON COLUMN assets.assets.updated_at_time IS 'Time of the last mint, transfer, data change or burn, ms since 1970';
COMMENT ON COLUMN assets.assets.burned_at_time IS 'Time of the burn, ms since 1970';
COMMENT ON COLUMN assets.assets.minted_seq IS 'Global sequence of the logmint action: its log, which has no row in logs; null when logs are not kept';
COMMENT ON COLUMN assets.assets.minted_at_block IS 'Block of the mint';
COMMENT ON COLUMN assets.assets.transferred_at_block IS 'Block of the last transfer or the mint';
COMMENT ON COLUMN assets.assets.updated_at_block IS 'Block of the last mint, transfer, data change or burn';
COMMENT ON COLUMN assets.assets.burned_at_block IS 'Block of the burn';
COMMENT ON COLUMN assets.assets.template_id IS 'Template; null without one';
COMMENT ON COLUMN assets.assets.template_mint IS 'Mint number within the template, from 1; null without a template';
COMMENT ON COLUMN assets.assets.collection_name IS 'Collection';
COMMENT ON COLUMN assets.assets.schema_name IS 'Schema';
COMMENT ON COLUMN assets.assets.owner IS 'Owner; null when burned';
COMMENT ON COLUMN assets.assets.ram_payer IS 'Account that pays for the row on chain';
COMMENT ON COLUMN assets.assets.minter IS 'Account that authorised the mint';
COMMENT ON COLUMN assets.assets.initial_receiver IS 'Account that it was minted to';
COMMENT ON COLUMN assets.assets.burned_by_account IS 'Account that burned it';
COMMENT ON COLUMN assets.assets.immutable_data IS 'Own attributes that never change; null when none';
COMMENT ON COLUMN assets.assets.mutable_data IS 'Own attributes that may change; null when none';

CREATE TABLE assets.backed_tokens (
  asset_id bigint,
  amount bigint NOT NULL,
  token_symbol text COLLATE "C",
  PRIMARY KEY (asset_id, token_symbol)
);
COMMENT ON TABLE assets.backed_tokens IS 'Tokens locked in assets; kept when the asset is burned';
COMMENT ON COLUMN assets.backed_tokens.asset_id IS 'Asset';
COMMENT ON COLUMN assets.backed_tokens.amount IS 'Amount in units of the smallest decimal place';
COMMENT ON COLUMN assets.backed_tokens.token_symbol IS 'Symbol code';

CREATE TABLE assets.offers (
  offer_id bigint PRIMARY KEY,
  created_at_time bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  created_at_block integer NOT NULL,
  updated_at_block integer NOT NULL,
  state smallint NOT NULL,
  sender text COLLATE "C" NOT NULL,
  recipient text COLLATE "C" NOT NULL,
  ram_payer text COLLATE "C",
  memo text COLLATE "C" NOT NULL,
  sender_asset_ids bigint[] NOT NULL,
  recipient_asset_ids bigint[] NOT NULL,
  collection_names text[] COLLATE "C" NOT NULL DEFAULT '{}'
);
COMMENT ON TABLE assets.offers IS 'Trade offers';
COMMENT ON COLUMN assets.offers.offer_id IS 'Id, from 1';
COMMENT ON COLUMN assets.offers.created_at_time IS 'Time of creation, ms since 1970';
COMMENT ON COLUMN assets.offers.updated_at_time IS 'Time of creation or closing, ms since 1970; validity changes do not move it';
COMMENT ON COLUMN assets.offers.created_at_block IS 'Block of creation';
COMMENT ON COLUMN assets.offers.updated_at_block IS 'Block of creation or closing';
COMMENT ON COLUMN assets.offers.state IS '0 pending, 1 invalid (an asset is not where it must be), 3 accepted, 4 declined, 5 cancelled';
COMMENT ON COLUMN assets.offers.sender IS 'Account that made the offer';
COMMENT ON COLUMN assets.offers.recipient IS 'Account that may accept it';
COMMENT ON COLUMN assets.offers.ram_payer IS 'Account that pays for the row on chain while the offer is open';
COMMENT ON COLUMN assets.offers.memo IS 'Memo, at most 256 bytes';
COMMENT ON COLUMN assets.offers.sender_asset_ids IS 'Assets that the sender gives, in order';
COMMENT ON COLUMN assets.offers.recipient_asset_ids IS 'Assets that the recipient gives, in order';
COMMENT ON COLUMN assets.offers.collection_names IS 'Collections of its assets, each once, by name; of assets that were known when it was made';

CREATE TABLE assets.open_offer_assets (
  asset_id bigint,
  offer_id bigint,
  PRIMARY KEY (asset_id, offer_id)
);
COMMENT ON TABLE assets.open_offer_assets IS 'Assets in offers that are still open (states 0 and 1)';
COMMENT ON COLUMN assets.open_offer_assets.asset_id IS 'Asset';
COMMENT ON COLUMN assets.open_offer_assets.offer_id IS 'Open offer that contains it';

CREATE TABLE assets.blocks (
  first_seq bigint PRIMARY KEY,
  block_time bigint NOT NULL,
  block_num integer NOT NULL,
  tx_offsets integer[] NOT NULL,
  txids bytea NOT NULL
) PARTITION BY RANGE (first_seq);
COMMENT ON TABLE assets.blocks IS 'Blocks with a transfer or log, and their transactions: an event belongs to the block with the greatest first_seq not above its own sequence; see origin_of';
COMMENT ON COLUMN assets.blocks.first_seq IS 'Lowest global sequence of the kept events';
COMMENT ON COLUMN assets.blocks.block_time IS 'Time of the block, ms since 1970';
COMMENT ON COLUMN assets.blocks.block_num IS 'Block';
COMMENT ON COLUMN assets.blocks.tx_offsets IS 'For each transaction with a kept event, in order: its first kept sequence, counted from first_seq';
COMMENT ON COLUMN assets.blocks.txids IS 'Their ids, 32 bytes each, in the same order';

CREATE FUNCTION assets.origin_of(seq bigint) RETURNS TABLE (block_num integer, block_time bigint, txid bytea)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $$
  SELECT b.block_num, b.block_time, substr(b.txids, 32 * width_bucket((seq - b.first_seq)::integer, b.tx_offsets) - 31, 32)
  FROM assets.blocks b WHERE b.first_seq <= seq ORDER BY b.first_seq DESC LIMIT 1
$$;
COMMENT ON FUNCTION assets.origin_of IS 'Block and transaction of a transfer or log, by its global sequence';

CREATE VIEW assets.transactions AS
  SELECT b.first_seq + o.seq_offset AS first_seq, b.block_time, b.block_num, substr(b.txids, 32 * o.place::integer - 31, 32) AS txid
  FROM assets.blocks b, unnest(b.tx_offsets) WITH ORDINALITY o(seq_offset, place);
COMMENT ON VIEW assets.transactions IS 'Transactions with a transfer or log, one a row';
COMMENT ON COLUMN assets.transactions.first_seq IS 'Lowest global sequence of its kept events';
COMMENT ON COLUMN assets.transactions.block_time IS 'Time of the block, ms since 1970';
COMMENT ON COLUMN assets.transactions.block_num IS 'Block';
COMMENT ON COLUMN assets.transactions.txid IS 'Transaction id, 32 bytes';

CREATE TABLE assets.transfers (
  transfer_id bigint PRIMARY KEY,
  sender text COLLATE "C" NOT NULL,
  recipient text COLLATE "C" NOT NULL,
  collection_name text COLLATE "C" NOT NULL,
  memo text COLLATE "C" NOT NULL,
  asset_ids bigint[] NOT NULL
) PARTITION BY RANGE (transfer_id);
COMMENT ON TABLE assets.transfers IS 'Transfers; one that moves assets of several collections has a row for each';
COMMENT ON COLUMN assets.transfers.transfer_id IS 'Global sequence of the logtransfer action';
COMMENT ON COLUMN assets.transfers.sender IS 'Account that gave';
COMMENT ON COLUMN assets.transfers.recipient IS 'Account that received';
COMMENT ON COLUMN assets.transfers.collection_name IS 'Collection of all its assets';
COMMENT ON COLUMN assets.transfers.memo IS 'Memo, at most 256 bytes';
COMMENT ON COLUMN assets.transfers.asset_ids IS 'Assets in the order of the action';

CREATE TABLE assets.log_actions (
  action smallint PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  subject text COLLATE "C" NOT NULL
);
COMMENT ON TABLE assets.log_actions IS 'Actions that are logged';
COMMENT ON COLUMN assets.log_actions.action IS 'Code used in logs';
COMMENT ON COLUMN assets.log_actions.name IS 'Action name';
COMMENT ON COLUMN assets.log_actions.subject IS 'What the subject of such a log is: asset, offer, collection, schema or template';
INSERT INTO assets.log_actions (action, name, subject) VALUES
  (1, 'logmint', 'asset'), (2, 'logburnasset', 'asset'), (3, 'logbackasset', 'asset'), (4, 'logsetdata', 'asset'),
  (5, 'logrampayer', 'asset'),
  (10, 'lognewoffer', 'offer'), (11, 'acceptoffer', 'offer'), (12, 'declineoffer', 'offer'), (13, 'canceloffer', 'offer'),
  (20, 'createcol', 'collection'), (21, 'setcoldata', 'collection'), (22, 'addcolauth', 'collection'),
  (23, 'remcolauth', 'collection'), (24, 'addnotifyacc', 'collection'), (25, 'remnotifyacc', 'collection'),
  (26, 'forbidnotify', 'collection'), (27, 'setmarketfee', 'collection'), (28, 'createauswap', 'collection'),
  (29, 'acceptauswap', 'collection'), (30, 'rejectauswap', 'collection'),
  (40, 'createschema', 'schema'), (41, 'extendschema', 'schema'), (42, 'setschematyp', 'schema'),
  (50, 'lognewtempl', 'template'), (51, 'locktemplate', 'template'), (52, 'deltemplate', 'template'),
  (53, 'redtemplmax', 'template'), (54, 'logsetdatatl', 'template');

CREATE TABLE assets.logs (
  seq bigint NOT NULL,
  subject bigint NOT NULL,
  action smallint NOT NULL,
  data jsonb,
  packed bytea
) PARTITION BY RANGE (seq);
COMMENT ON TABLE assets.logs IS 'What happened to assets, offers, collections, schemas and templates; mints are on the assets themselves (minted_seq, minter, initial_receiver)';
COMMENT ON COLUMN assets.logs.seq IS 'Global sequence of the action';
COMMENT ON COLUMN assets.logs.subject IS 'Asset, offer or template id; for collections and schemas the collection''s name as the chain''s 64-bit number, signed';
COMMENT ON COLUMN assets.logs.action IS 'Code in log_actions';
COMMENT ON COLUMN assets.logs.data IS 'What the action said beyond its subject; null when nothing, or when it is packed';
COMMENT ON COLUMN assets.logs.packed IS 'logsetdata and logsetdatatl: old and new attribute map as packed in the action';

CREATE TABLE assets.accounts (
  account text COLLATE "C" PRIMARY KEY,
  assets bigint NOT NULL
);
COMMENT ON TABLE assets.accounts IS 'How many assets each account owns; accounts without any have no row';
COMMENT ON COLUMN assets.accounts.account IS 'Owner';
COMMENT ON COLUMN assets.accounts.assets IS 'Assets owned';

CREATE TABLE assets.collection_counts (
  collection_name text COLLATE "C" PRIMARY KEY,
  minted bigint NOT NULL,
  burned bigint NOT NULL
);
COMMENT ON TABLE assets.collection_counts IS 'Assets per collection; collections without any have no row';
COMMENT ON COLUMN assets.collection_counts.collection_name IS 'Collection';
COMMENT ON COLUMN assets.collection_counts.minted IS 'Assets ever minted';
COMMENT ON COLUMN assets.collection_counts.burned IS 'Of these, burned';

CREATE TABLE assets.schema_counts (
  collection_name text COLLATE "C",
  schema_name text COLLATE "C",
  minted bigint NOT NULL,
  burned bigint NOT NULL,
  PRIMARY KEY (collection_name, schema_name)
);
COMMENT ON TABLE assets.schema_counts IS 'Assets per schema; schemas without any have no row';
COMMENT ON COLUMN assets.schema_counts.collection_name IS 'Collection';
COMMENT ON COLUMN assets.schema_counts.schema_name IS 'Schema';
COMMENT ON COLUMN assets.schema_counts.minted IS 'Assets ever minted';
COMMENT ON COLUMN assets.schema_counts.burned IS 'Of these, burned';

CREATE TABLE assets.template_counts (
  template_id integer PRIMARY KEY,
  minted bigint NOT NULL,
  burned bigint NOT NULL
);
COMMENT ON TABLE assets.template_counts IS 'Assets per template; templates without any have no row';
COMMENT ON COLUMN assets.template_counts.template_id IS 'Template';
COMMENT ON COLUMN assets.template_counts.minted IS 'Assets ever minted';
COMMENT ON COLUMN assets.template_counts.burned IS 'Of these, burned';

CREATE TABLE assets.burners (
  account text COLLATE "C" PRIMARY KEY,
  assets bigint NOT NULL
);
COMMENT ON TABLE assets.burners IS 'How many assets each account burned; accounts without any have no row';
COMMENT ON COLUMN assets.burners.account IS 'Account that burned them';
COMMENT ON COLUMN assets.burners.assets IS 'Assets burned';

CREATE TABLE assets.collection_accounts (
  collection_name text COLLATE "C",
  account text COLLATE "C",
  assets bigint NOT NULL,
  PRIMARY KEY (collection_name, account)
);
COMMENT ON TABLE assets.collection_accounts IS 'How many assets of each collection each account owns; without any there is no row';
COMMENT ON COLUMN assets.collection_accounts.collection_name IS 'Collection';
COMMENT ON COLUMN assets.collection_accounts.account IS 'Owner';
COMMENT ON COLUMN assets.collection_accounts.assets IS 'Assets owned';

CREATE TABLE assets.transfer_counts (
  collection_name text COLLATE "C" PRIMARY KEY,
  transfers bigint NOT NULL
);
COMMENT ON TABLE assets.transfer_counts IS 'Transfers per collection; collections without any have no row';
COMMENT ON COLUMN assets.transfer_counts.collection_name IS 'Collection';
COMMENT ON COLUMN assets.transfer_counts.transfers IS 'Rows of transfers';

CREATE TABLE assets.offer_counts (
  state smallint PRIMARY KEY,
  offers bigint NOT NULL
);
COMMENT ON TABLE assets.offer_counts IS 'Offers by state; states without any have no row';
COMMENT ON COLUMN assets.offer_counts.state IS 'State as in offers';
COMMENT ON COLUMN assets.offer_counts.offers IS 'Rows of offers';

SELECT chain.create_undo_twin(t::regclass) FROM unnest(ARRAY[
  'assets.config', 'assets.tokens', 'assets.balances', 'assets.collections', 'assets.author_swaps', 'assets.schemas',
  'assets.templates', 'assets.assets', 'assets.backed_tokens', 'assets.offers', 'assets.open_offer_assets',
  'assets.accounts', 'assets.collection_counts', 'assets.schema_counts', 'assets.template_counts', 'assets.burners',
  'assets.collection_accounts', 'assets.transfer_counts', 'assets.offer_counts'
]) t;

-- A wide scan for the next vacuum is dearer than a visit after every few thousand changes.
ALTER TABLE assets.assets SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Whether a list is read in its order or by its filter depends on how many rows the filter's value has: the values
-- that many rows have must be known one by one.
ALTER TABLE assets.assets
  ALTER owner SET STATISTICS 500, ALTER collection_name SET STATISTICS 500, ALTER schema_name SET STATISTICS 500,
  ALTER template_id SET STATISTICS 500, ALTER minter SET STATISTICS 500, ALTER initial_receiver SET STATISTICS 500,
  ALTER burned_by_account SET STATISTICS 500;
ALTER TABLE assets.offers ALTER sender SET STATISTICS 500, ALTER recipient SET STATISTICS 500;

-- Collection and schema as one number, which leads the indexes of assets in place of two names. Generated columns have no
-- place in the undo journal, so they come after its tables.

-- MD5 says the same on every machine and in every version of PostgreSQL.
ALTER TABLE assets.schemas ADD schema_key bigint NOT NULL
  GENERATED ALWAYS AS (('x' || left(md5(collection_name || '/' || schema_name), 16))::bit(64)::bigint) STORED;
COMMENT ON COLUMN assets.schemas.schema_key IS 'First 64 bits of the MD5 of collection/schema';
CREATE UNIQUE INDEX schemas_key_idx ON assets.schemas (schema_key);

ALTER TABLE assets.assets ADD schema_key bigint NOT NULL
  GENERATED ALWAYS AS (('x' || left(md5(collection_name || '/' || schema_name), 16))::bit(64)::bigint) STORED;
COMMENT ON COLUMN assets.assets.schema_key IS 'Key of its schema, see assets.schemas';

-- How a walk by the names of templates is estimated, and how many rows a value of the key has.
ALTER TABLE assets.assets ALTER schema_key SET STATISTICS 500;
