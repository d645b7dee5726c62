-- What every reader needs: its position and lease, contract ABIs, the undo journal, the feed, named lists, imports.

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
  head_time bigint,
  irreversible_block integer NOT NULL,
  blocks_per_second double precision NOT NULL,
  state text COLLATE "C" NOT NULL,
  message_at timestamptz,
  block_at timestamptz,
  problem text COLLATE "C",
  nodes jsonb
);
COMMENT ON TABLE chain.heartbeats IS 'What each reader last said of itself; not chain data, lost on a crash';
COMMENT ON COLUMN chain.heartbeats.reader IS 'Reader name';
COMMENT ON COLUMN chain.heartbeats.beaten_at IS 'When it said so';
COMMENT ON COLUMN chain.heartbeats.committed_at IS 'When it last committed a block';
COMMENT ON COLUMN chain.heartbeats.head_block IS 'Head of the chain node';
COMMENT ON COLUMN chain.heartbeats.head_time IS 'Time of the head, ms since 1970; null while the reader has not received it';
COMMENT ON COLUMN chain.heartbeats.irreversible_block IS 'Last irreversible block of the chain node';
COMMENT ON COLUMN chain.heartbeats.blocks_per_second IS 'Blocks committed per second, over the last seconds';
COMMENT ON COLUMN chain.heartbeats.state IS 'connecting, catching-up, live or stopped';
COMMENT ON COLUMN chain.heartbeats.message_at IS 'When the chain node last sent a complete message';
COMMENT ON COLUMN chain.heartbeats.block_at IS 'When it last sent a block';
COMMENT ON COLUMN chain.heartbeats.problem IS 'What keeps the reader from going on; null while nothing does';
COMMENT ON COLUMN chain.heartbeats.nodes IS 'The chain nodes that the reader reads from, in the order of its configuration: state, head_block, blocks_behind, bytes_per_second, faults. Null before the first heartbeat';

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

CREATE TABLE chain.gaps (
  reader text COLLATE "C" NOT NULL,
  first_block integer NOT NULL,
  last_block integer NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (reader, first_block)
);
COMMENT ON TABLE chain.gaps IS 'Blocks that readers have left out: what happened in them is not in the database';
COMMENT ON COLUMN chain.gaps.reader IS 'Reader name';
COMMENT ON COLUMN chain.gaps.first_block IS 'First block that is missing';
COMMENT ON COLUMN chain.gaps.last_block IS 'Last block that is missing; the gap counts once the reader is above it';
COMMENT ON COLUMN chain.gaps.noted_at IS 'When the start_block that made it was first used';

-- The feed of live events: one entry for each block with events, fork and gap, in the order of writing.

CREATE TABLE chain.feeds (
  reader text COLLATE "C" PRIMARY KEY,
  epoch bigint NOT NULL,
  sequence bigint NOT NULL,
  pruned_to bigint NOT NULL,
  told_to integer NOT NULL
);
COMMENT ON TABLE chain.feeds IS 'How far each reader''s feed is; there is none before the reader has first reached the head';
COMMENT ON COLUMN chain.feeds.reader IS 'Reader name';
COMMENT ON COLUMN chain.feeds.epoch IS 'When the feed began, ms since 1970; a cursor of another feed shows by it';
COMMENT ON COLUMN chain.feeds.sequence IS 'Newest entry; grows by one with each, also over forks';
COMMENT ON COLUMN chain.feeds.pruned_to IS 'Newest entry that is no longer kept, 0 when all are';
COMMENT ON COLUMN chain.feeds.told_to IS 'Block up to which the feed tells everything; with the reader''s position, the next block is told too';

CREATE TABLE chain.feed (
  reader text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('block', 'fork', 'gap')),
  block_num integer NOT NULL,
  block_id bytea,
  message bytea NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (reader, sequence)
);
CREATE INDEX feed_block_num ON chain.feed (reader, block_num);
-- The messages are compressed before they come here.
ALTER TABLE chain.feed ALTER message SET STORAGE EXTERNAL;
COMMENT ON TABLE chain.feed IS 'What clients are told live, kept for those that come back; written in the block''s own transaction';
COMMENT ON COLUMN chain.feed.reader IS 'Reader name';
COMMENT ON COLUMN chain.feed.sequence IS 'Place in the feed, without a missing number';
COMMENT ON COLUMN chain.feed.kind IS 'block: its events; fork: blocks were undone; gap: blocks were indexed and not told';
COMMENT ON COLUMN chain.feed.block_num IS 'The block; of a fork, the first undone one; of a gap, the last that was not told';
COMMENT ON COLUMN chain.feed.block_id IS 'Id of the block, 32 bytes; null for forks and gaps';
COMMENT ON COLUMN chain.feed.message IS 'The message, deflated JSON';
COMMENT ON COLUMN chain.feed.written_at IS 'When the entry was written';

-- Named lists, which requests refer to as $list:NAME. They are no chain data: forks do not touch them, and deleting
-- the rows of a reader leaves them alone.

CREATE TABLE chain.list_sources (
  source text COLLATE "C" PRIMARY KEY,
  reader text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  tried_at timestamptz NOT NULL,
  read_at timestamptz,
  problem text COLLATE "C"
);
COMMENT ON TABLE chain.list_sources IS 'Addresses that the filler asks for named lists';
COMMENT ON COLUMN chain.list_sources.source IS 'Reader name, colon, first 16 hexadecimal digits of the address''s SHA-256';
COMMENT ON COLUMN chain.list_sources.reader IS 'Reader whose list_polls names the address';
COMMENT ON COLUMN chain.list_sources.address IS 'The address, without whatever might be secret in it';
COMMENT ON COLUMN chain.list_sources.tried_at IS 'When it was last asked';
COMMENT ON COLUMN chain.list_sources.read_at IS 'When it last answered with lists; they are those of then';
COMMENT ON COLUMN chain.list_sources.problem IS 'Why the last try failed; null when it did not';

CREATE TABLE chain.lists (
  name text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL DEFAULT '',
  items text[] COLLATE "C" NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (name, source)
);
COMMENT ON TABLE chain.lists IS 'Named lists; $list:NAME stands for the items of all rows with that name';
COMMENT ON COLUMN chain.lists.name IS 'Name of the list';
COMMENT ON COLUMN chain.lists.source IS 'Where it came from; empty for a list that the operator keeps by hand, which no source changes';
COMMENT ON COLUMN chain.lists.items IS 'Account or collection names, ids, or whatever parameter the list is for';
COMMENT ON COLUMN chain.lists.changed_at IS 'When the items last changed';

-- Imports: rows that were not indexed block by block.

CREATE TABLE chain.imports (
  reader text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  block_num integer NOT NULL,
  block_time bigint NOT NULL,
  block_id bytea NOT NULL,
  history_since integer,
  started_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
COMMENT ON TABLE chain.imports IS 'Readers whose first rows were imported; while one is not finished, nothing else writes for its reader';
COMMENT ON COLUMN chain.imports.reader IS 'Reader name';
COMMENT ON COLUMN chain.imports.kind IS 'database or state';
COMMENT ON COLUMN chain.imports.source IS 'Where the rows come from, without credentials';
COMMENT ON COLUMN chain.imports.fingerprint IS 'Digest of what the source held; an import continues only while it is the same';
COMMENT ON COLUMN chain.imports.block_num IS 'Block that the rows are of';
COMMENT ON COLUMN chain.imports.block_time IS 'Time of that block, ms since 1970';
COMMENT ON COLUMN chain.imports.block_id IS 'Id of that block, 32 bytes';
COMMENT ON COLUMN chain.imports.history_since IS 'First block whose history is whole: times before it are 0, mint numbers null; null when it is whole from the start';
COMMENT ON COLUMN chain.imports.started_at IS 'When the import began';
COMMENT ON COLUMN chain.imports.finished_at IS 'When all of it was there; null before';

CREATE TABLE chain.import_steps (
  reader text COLLATE "C" NOT NULL,
  step text COLLATE "C" NOT NULL,
  rows bigint NOT NULL,
  PRIMARY KEY (reader, step)
);
COMMENT ON TABLE chain.import_steps IS 'Steps of an unfinished import that are committed';
COMMENT ON COLUMN chain.import_steps.reader IS 'Reader name';
COMMENT ON COLUMN chain.import_steps.step IS 'Table and range of keys';
COMMENT ON COLUMN chain.import_steps.rows IS 'Rows that the step wrote';

-- The journal table of a table, in the schema undo: the block, whether the row existed before it, and the row as it was.
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
