-- A family that is left out for a while, or that comes later than its reader, lacks the blocks between.

ALTER TABLE chain.sources ADD COLUMN IF NOT EXISTS first_block integer,
  ADD COLUMN IF NOT EXISTS left_out_after integer;
COMMENT ON COLUMN chain.sources.first_block IS 'First block of a family that was added to a reader that had indexed blocks; else null';
COMMENT ON COLUMN chain.sources.left_out_after IS 'Last block that was indexed before the configuration left the family out; null while it is in it';
