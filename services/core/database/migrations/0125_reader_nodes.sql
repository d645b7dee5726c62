-- A reader may read from several chain nodes: how each is doing, for the page and /health.
ALTER TABLE chain.heartbeats ADD nodes jsonb;
COMMENT ON COLUMN chain.heartbeats.nodes IS 'The chain nodes that the reader reads from, in the order of its configuration: state, head_block, blocks_behind, bytes_per_second, faults. Null before the first heartbeat';
