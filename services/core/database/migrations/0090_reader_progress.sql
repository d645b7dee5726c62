-- Health is progress: when the last message, block and commit came, and what stands in the way of the next.
ALTER TABLE chain.heartbeats
  ADD message_at timestamptz,
  ADD block_at timestamptz,
  ADD problem text COLLATE "C",
  ALTER head_time DROP NOT NULL;
COMMENT ON COLUMN chain.heartbeats.head_time IS 'Time of the head, ms since 1970; null while the reader has not received it';
COMMENT ON COLUMN chain.heartbeats.message_at IS 'When the chain node last sent a complete message';
COMMENT ON COLUMN chain.heartbeats.block_at IS 'When it last sent a block';
COMMENT ON COLUMN chain.heartbeats.problem IS 'What keeps the reader from going on; null while nothing does';
