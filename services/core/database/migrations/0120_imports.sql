-- What was not indexed block by block but taken over from elsewhere.

CREATE TABLE chain.imports (
  reader text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  source text NOT NULL,
  fingerprint text NOT NULL,
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
COMMENT ON COLUMN chain.imports.history_since IS 'First block whose history is whole; null when it is whole from the start';
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
