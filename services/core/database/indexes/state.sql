-- Indexes that only queries of the state service need.
CREATE INDEX state_permissions_keys ON state.permissions USING gin (keys);
CREATE INDEX state_past_permissions_keys ON state.past_permissions USING gin (keys);
