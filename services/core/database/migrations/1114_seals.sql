-- Seals of history: rows that cannot change any more have a SHA-256 for each range of blocks, once no fork can undo the
-- range. docs/seals.md has the definition to the byte. Digests leave the seals out: how far history is sealed depends on
-- the time. Forks do not touch seals.

CREATE TABLE chain.sealed (
  kind text COLLATE "C" PRIMARY KEY,
  reader text COLLATE "C" NOT NULL,
  range_blocks integer NOT NULL CHECK (range_blocks > 0),
  sealed_to integer NOT NULL,
  next_position bigint NOT NULL,
  reason text
);
COMMENT ON TABLE chain.sealed IS 'How far each kind of row is sealed';
COMMENT ON COLUMN chain.sealed.kind IS 'Kind of row, for example assets.transfers; see docs/seals.md';
COMMENT ON COLUMN chain.sealed.reader IS 'Reader that fills the table and seals it; of ABIs, all readers, separated by commas';
COMMENT ON COLUMN chain.sealed.range_blocks IS 'Blocks in a range; ranges begin at its multiples';
COMMENT ON COLUMN chain.sealed.sealed_to IS 'Last block of the last sealed range, -1 before the first; up to it a range without a seal has no rows';
COMMENT ON COLUMN chain.sealed.next_position IS 'Lower bound of the positions of rows that are not sealed: global sequence, id or time, depending on the kind';
COMMENT ON COLUMN chain.sealed.reason IS 'Why the kind was sealed anew from its first block; null when it was not';

CREATE TABLE chain.seals (
  kind text COLLATE "C" NOT NULL REFERENCES chain.sealed ON DELETE CASCADE,
  first_block integer NOT NULL,
  row_count bigint NOT NULL CHECK (row_count > 0),
  digest bytea NOT NULL CHECK (octet_length(digest) = 32),
  low_position bigint NOT NULL,
  high_position bigint NOT NULL,
  origin text COLLATE "C" NOT NULL CHECK (origin IN ('indexed', 'imported')),
  sealed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (kind, first_block)
);
COMMENT ON TABLE chain.seals IS 'Number and SHA-256 of the rows of each kind and range of blocks when the range had become irreversible; ranges without rows have no seal';
COMMENT ON COLUMN chain.seals.kind IS 'Kind of row';
COMMENT ON COLUMN chain.seals.first_block IS 'First block of the range, a multiple of range_blocks of chain.sealed';
COMMENT ON COLUMN chain.seals.row_count IS 'Rows of the range';
COMMENT ON COLUMN chain.seals.digest IS 'SHA-256 over the SHA-256 of each row, in the order of keys; see docs/seals.md';
COMMENT ON COLUMN chain.seals.low_position IS 'Lower bound of the positions of its rows, by which an index finds them';
COMMENT ON COLUMN chain.seals.high_position IS 'Upper bound of the positions of its rows';
COMMENT ON COLUMN chain.seals.origin IS 'indexed: every block of the range was read from the chain; imported: import-database wrote rows of it';
COMMENT ON COLUMN chain.seals.sealed_at IS 'When the seal was written';

-- Both tables are small, and rows of a range of blocks are looked for in them.
CREATE INDEX templates_deleted_idx ON assets.templates (deleted_at_block) WHERE deleted_at_block IS NOT NULL;
CREATE INDEX abis_block_idx ON chain.abis (block_num);
