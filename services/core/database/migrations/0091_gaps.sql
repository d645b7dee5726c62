-- Blocks that a reader has left out because its start_block was raised above its position.
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
