-- A reader that is ahead of the reader of the assets completes its links later: it looks for them with every commit.
CREATE INDEX links_unknown_idx ON tools.links (link_id) WHERE has_unknown_assets;
