-- What every reader needs: who it is, where it stands, which ABI was in force when, and how to undo.

CREATE SCHEMA chain;
COMMENT ON SCHEMA chain IS 'Readers, their positions, contract ABIs, and the undo journal''s bookkeeping';
CREATE SCHEMA undo;
COMMENT ON SCHEMA undo IS 'Undo journal: for every table a twin that keeps old row images of reversible blocks';

CREATE TABLE chain.identity (
  chain_id text COLLATE "C" PRIMARY KEY
);
COMMENT ON TABLE chain.identity IS 'The one chain that this database belongs to';
COMMENT ON COLUMN chain.identity.chain_id IS '64 hexadecimal digits';

CREATE TABLE chain.readers (
  name text COLLATE "C" PRIMARY KEY,
  start_block integer NOT NULL,
  block_num integer NOT NULL,
  block_time bigint NOT NULL,
  block_id bytea NOT NULL
);
COMMENT ON TABLE chain.readers IS 'The last committed block of each reader; written in the block''s own transaction';
COMMENT ON COLUMN chain.readers.name IS 'Reader name of readers.config.json';
COMMENT ON COLUMN chain.readers.start_block IS 'First block that the reader indexed';
COMMENT ON COLUMN chain.readers.block_num IS 'Last committed block';
COMMENT ON COLUMN chain.readers.block_time IS 'Its time, ms since 1970';
COMMENT ON COLUMN chain.readers.block_id IS 'Its id, 32 bytes; empty before the first block';

CREATE TABLE chain.leases (
  reader text COLLATE "C" PRIMARY KEY,
  fence bigint NOT NULL,
  holder text NOT NULL,
  acquired_at timestamptz NOT NULL
);
COMMENT ON TABLE chain.leases IS 'Who may write for a reader; every commit checks the fence';
COMMENT ON COLUMN chain.leases.reader IS 'Reader name';
COMMENT ON COLUMN chain.leases.fence IS 'Grows by one with every new holder; a commit under an older number is refused';
COMMENT ON COLUMN chain.leases.holder IS 'Host, process id and start time of the holder';
COMMENT ON COLUMN chain.leases.acquired_at IS 'When the lease was taken';

CREATE UNLOGGED TABLE chain.heartbeats (
  reader text COLLATE "C" PRIMARY KEY,
  beaten_at timestamptz NOT NULL,
  committed_at timestamptz,
  head_block integer NOT NULL,
  head_time bigint NOT NULL,
  irreversible_block integer NOT NULL,
  blocks_per_second double precision NOT NULL,
  state text COLLATE "C" NOT NULL
);
COMMENT ON TABLE chain.heartbeats IS 'What each reader last said of itself; not chain data, lost on a crash';
COMMENT ON COLUMN chain.heartbeats.reader IS 'Reader name';
COMMENT ON COLUMN chain.heartbeats.beaten_at IS 'When it said so';
COMMENT ON COLUMN chain.heartbeats.committed_at IS 'When it last committed a block';
COMMENT ON COLUMN chain.heartbeats.head_block IS 'Head of the chain node';
COMMENT ON COLUMN chain.heartbeats.head_time IS 'Time of the last received block, ms since 1970';
COMMENT ON COLUMN chain.heartbeats.irreversible_block IS 'Last irreversible block of the chain node';
COMMENT ON COLUMN chain.heartbeats.blocks_per_second IS 'Blocks committed per second, over the last seconds';
COMMENT ON COLUMN chain.heartbeats.state IS 'connecting, catching-up, live or stopped';

CREATE TABLE chain.reversible_blocks (
  reader text COLLATE "C" NOT NULL,
  block_num integer NOT NULL,
  first_seq bigint,
  block_time bigint NOT NULL,
  block_id bytea NOT NULL,
  PRIMARY KEY (reader, block_num)
);
COMMENT ON TABLE chain.reversible_blocks IS 'Committed blocks that a fork may still undo; sent to the node on reconnect';
COMMENT ON COLUMN chain.reversible_blocks.reader IS 'Reader name';
COMMENT ON COLUMN chain.reversible_blocks.block_num IS 'Block number';
COMMENT ON COLUMN chain.reversible_blocks.first_seq IS 'Lowest global sequence that the block appended to an append-only table';
COMMENT ON COLUMN chain.reversible_blocks.block_time IS 'Time of the block, ms since 1970';
COMMENT ON COLUMN chain.reversible_blocks.block_id IS 'Block id, 32 bytes';

CREATE TABLE chain.sources (
  family text COLLATE "C" PRIMARY KEY,
  account text COLLATE "C" NOT NULL,
  reader text COLLATE "C" NOT NULL
);
COMMENT ON TABLE chain.sources IS 'Which contract account fills a family''s tables, and which reader does it';
COMMENT ON COLUMN chain.sources.family IS 'assets, market, oracle or tools';
COMMENT ON COLUMN chain.sources.account IS 'Contract account';
COMMENT ON COLUMN chain.sources.reader IS 'Reader name';

CREATE TABLE chain.abis (
  account text COLLATE "C" NOT NULL,
  block_num integer NOT NULL,
  reader text COLLATE "C" NOT NULL,
  abi bytea NOT NULL,
  PRIMARY KEY (account, block_num)
);
COMMENT ON TABLE chain.abis IS 'Every ABI version of every account, in force from the end of its block on';
COMMENT ON COLUMN chain.abis.account IS 'Contract account';
COMMENT ON COLUMN chain.abis.block_num IS 'Block that set it';
COMMENT ON COLUMN chain.abis.reader IS 'Reader that saw it';
COMMENT ON COLUMN chain.abis.abi IS 'Packed abi_def as set on chain; empty when it was removed';

CREATE TABLE chain.code_accounts (
  account text COLLATE "C" PRIMARY KEY,
  since_block integer NOT NULL,
  reader text COLLATE "C" NOT NULL
);
COMMENT ON TABLE chain.code_accounts IS 'Accounts that have ever deployed code';
COMMENT ON COLUMN chain.code_accounts.account IS 'Account';
COMMENT ON COLUMN chain.code_accounts.since_block IS 'First block in which it was seen with code';
COMMENT ON COLUMN chain.code_accounts.reader IS 'Reader that saw it';

-- The twin of a table in the undo schema: the block, whether the row existed before it, and the row as it was.
CREATE FUNCTION chain.create_undo_twin(target regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  twin text := (SELECT n.nspname || '_' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = target);
BEGIN
  EXECUTE format('CREATE TABLE undo.%I AS SELECT 0::integer AS undo_block, true AS undo_existed, t.* FROM %s t WITH NO DATA', twin, target);
  EXECUTE format('ALTER TABLE undo.%I ALTER undo_block SET NOT NULL, ALTER undo_existed SET NOT NULL', twin);
  EXECUTE format('CREATE INDEX ON undo.%I (undo_block)', twin);
  EXECUTE format('COMMENT ON TABLE undo.%I IS %L', twin, 'Old row images of ' || target::text);
END $$;
COMMENT ON FUNCTION chain.create_undo_twin IS 'Makes the undo journal''s table for a table';

-- Append-only tables are cut by ranges of the global sequence: it grows with the blocks, is the order that lists
-- use, and lets the key carry the cut.
CREATE FUNCTION chain.ensure_partition(parent regclass, seq bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  width constant bigint := 8589934592;
  part bigint := seq / width;
  home text := (SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = parent);
  name text := (SELECT c.relname FROM pg_class c WHERE c.oid = parent) || '_' || part;
BEGIN
  IF to_regclass(format('%I.%I', home, name)) IS NULL THEN
    EXECUTE format('CREATE TABLE %I.%I PARTITION OF %s FOR VALUES FROM (%s) TO (%s)', home, name, parent, part * width, (part + 1) * width);
  END IF;
END $$;
COMMENT ON FUNCTION chain.ensure_partition IS 'Makes the partition that holds a global sequence, when it is missing';
