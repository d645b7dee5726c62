-- A reader that is far ahead of the reader of the assets has many links with unknown assets. Each commit looks for the links
-- that the other reader has reached: an index in the order of blocks ends there.
DROP INDEX tools.links_unknown_idx;
CREATE INDEX links_waiting_idx ON tools.links (created_at_block) WHERE has_unknown_assets;
