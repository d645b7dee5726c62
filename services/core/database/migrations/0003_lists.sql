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
