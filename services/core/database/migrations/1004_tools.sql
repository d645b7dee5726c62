-- The tools family: links by which an account gives assets to whoever has the private key of the link. One database
-- holds one tools contract, so no row repeats its account; tools.config has it on its only row.

CREATE SCHEMA tools;
COMMENT ON SCHEMA tools IS 'Tools: links that assets are claimed with';

CREATE TABLE tools.config (
  contract text COLLATE "C" PRIMARY KEY,
  version text COLLATE "C" NOT NULL,
  assets_contract text COLLATE "C" NOT NULL,
  link_counter numeric NOT NULL
);
COMMENT ON TABLE tools.config IS 'The contract''s own settings; one row';
COMMENT ON COLUMN tools.config.contract IS 'Contract account';
COMMENT ON COLUMN tools.config.version IS 'Version that the contract names';
COMMENT ON COLUMN tools.config.assets_contract IS 'NFT contract whose assets it passes on';
COMMENT ON COLUMN tools.config.link_counter IS 'Id of the next link';

CREATE TABLE tools.links (
  link_id bigint PRIMARY KEY,
  created_at_time bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  created_at_block integer NOT NULL,
  updated_at_block integer NOT NULL,
  state smallint NOT NULL,
  has_unknown_assets boolean NOT NULL,
  creator text COLLATE "C" NOT NULL,
  claimer text COLLATE "C",
  public_key text COLLATE "C" NOT NULL,
  claimer_signature text COLLATE "C",
  memo text COLLATE "C" NOT NULL,
  asset_ids bigint[] NOT NULL,
  collection_names text[] COLLATE "C" NOT NULL
);
COMMENT ON TABLE tools.links IS 'Links; those that ended stay. One that was announced before the reader''s first block is here once it is started, claimed or cancelled';
COMMENT ON COLUMN tools.links.link_id IS 'Link';
COMMENT ON COLUMN tools.links.created_at_time IS 'Time of the announcement, ms since 1970; of a link announced before the reader''s first block, that of the first change seen';
COMMENT ON COLUMN tools.links.updated_at_time IS 'Time of the last change of state, ms since 1970';
COMMENT ON COLUMN tools.links.created_at_block IS 'Block of the announcement; of a link announced before the reader''s first block, that of the first change seen';
COMMENT ON COLUMN tools.links.updated_at_block IS 'Block of the last change of state';
COMMENT ON COLUMN tools.links.state IS '0 waiting for its assets, 1 created: can be claimed, 2 cancelled, 3 claimed';
COMMENT ON COLUMN tools.links.has_unknown_assets IS 'Whether an asset of it is not in assets.assets';
COMMENT ON COLUMN tools.links.creator IS 'Account that announced it';
COMMENT ON COLUMN tools.links.claimer IS 'Account that claimed it; null before';
COMMENT ON COLUMN tools.links.public_key IS 'Key that the claim must be signed with: PUB_K1_..., PUB_R1_... or PUB_WA_...';
COMMENT ON COLUMN tools.links.claimer_signature IS 'Signature of the claim: SIG_K1_..., SIG_R1_... or SIG_WA_...; null before';
COMMENT ON COLUMN tools.links.memo IS 'Memo, at most 256 bytes';
COMMENT ON COLUMN tools.links.asset_ids IS 'Assets in the order of the announcement';
COMMENT ON COLUMN tools.links.collection_names IS 'Collections of those of its assets that are in assets.assets, each once, ascending';

CREATE TABLE tools.link_counts (
  state smallint PRIMARY KEY,
  links bigint NOT NULL
);
COMMENT ON TABLE tools.link_counts IS 'How many links are in each state; states without any have no row';
COMMENT ON COLUMN tools.link_counts.state IS 'As in links';
COMMENT ON COLUMN tools.link_counts.links IS 'Number of links';

CREATE TABLE tools.blocks (
  first_seq bigint PRIMARY KEY,
  block_time bigint NOT NULL,
  block_num integer NOT NULL,
  tx_offsets integer[] NOT NULL,
  txids bytea NOT NULL
) PARTITION BY RANGE (first_seq);
COMMENT ON TABLE tools.blocks IS 'Blocks with a log of the tools contract, and their transactions; read by origin_of';
COMMENT ON COLUMN tools.blocks.first_seq IS 'Lowest global sequence of the kept events';
COMMENT ON COLUMN tools.blocks.block_time IS 'Time of the block, ms since 1970';
COMMENT ON COLUMN tools.blocks.block_num IS 'Block';
COMMENT ON COLUMN tools.blocks.tx_offsets IS 'For each transaction with a kept event, in order: its first kept sequence, counted from first_seq';
COMMENT ON COLUMN tools.blocks.txids IS 'Their ids, 32 bytes each, in the same order';

CREATE FUNCTION tools.origin_of(seq bigint) RETURNS TABLE (block_num integer, block_time bigint, txid bytea)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $$
  SELECT b.block_num, b.block_time, substr(b.txids, 32 * width_bucket((seq - b.first_seq)::integer, b.tx_offsets) - 31, 32)
  FROM tools.blocks b WHERE b.first_seq <= seq ORDER BY b.first_seq DESC LIMIT 1
$$;
COMMENT ON FUNCTION tools.origin_of IS 'Block and transaction of a log of the tools contract, by its global sequence';

CREATE TABLE tools.log_actions (
  action smallint PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE
);
COMMENT ON TABLE tools.log_actions IS 'Actions that are logged';
COMMENT ON COLUMN tools.log_actions.action IS 'Code used in logs';
COMMENT ON COLUMN tools.log_actions.name IS 'Action name';
INSERT INTO tools.log_actions (action, name) VALUES
  (1, 'lognewlink'), (2, 'loglinkstart'), (3, 'cancellink'), (4, 'claimlink');

CREATE TABLE tools.logs (
  seq bigint NOT NULL,
  subject bigint NOT NULL,
  action smallint NOT NULL
) PARTITION BY RANGE (seq);
COMMENT ON TABLE tools.logs IS 'What happened to links; what the actions said is on the links';
COMMENT ON COLUMN tools.logs.seq IS 'Global sequence of the action';
COMMENT ON COLUMN tools.logs.subject IS 'Link';
COMMENT ON COLUMN tools.logs.action IS 'Code in log_actions';

SELECT chain.create_undo_twin(t::regclass) FROM unnest(ARRAY['tools.config', 'tools.links', 'tools.link_counts']) t;
