-- What clients are told live: one entry for each block with events, fork and gap, in the order of writing.

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
