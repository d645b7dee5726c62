-- Indexes that only queries need: built when a reader has caught up, online, one by one.
CREATE INDEX links_updated_idx ON tools.links (updated_at_time, link_id);
CREATE INDEX links_creator_idx ON tools.links (creator, link_id);
CREATE INDEX links_claimer_idx ON tools.links (claimer, link_id) WHERE claimer IS NOT NULL;
CREATE INDEX links_state_idx ON tools.links (state, link_id);
CREATE INDEX links_key_idx ON tools.links USING hash (public_key);
CREATE INDEX links_contents_idx ON tools.links USING gin (asset_ids, collection_names);
CREATE INDEX logs_subject_idx ON tools.logs (subject, seq) WITH (fillfactor = 100);
CREATE INDEX logs_seq_idx ON tools.logs USING brin (seq) WITH (autosummarize = on);
