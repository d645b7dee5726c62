-- The chain's own state as bytes, of the accounts that the handler `state` keeps, at every block of its history.
--
-- Each kind of row has two tables: the rows as they are, with the block in which they were last written, and the
-- versions that ended, with the block that ended them. A version holds from `since_block` on and up to the block
-- before `until_block`. The state at block B is what of both holds at B. A fork is undone from the same numbers, so
-- these tables need no table in the undo journal.

CREATE SCHEMA state;
COMMENT ON SCHEMA state IS 'Contract rows and permissions as the chain packs them, by block';

CREATE TABLE state.coverage (
  reader text COLLATE "C" PRIMARY KEY,
  accounts text[] COLLATE "C" NOT NULL,
  permissions boolean NOT NULL,
  since_block integer NOT NULL,
  history_from integer NOT NULL
);
COMMENT ON TABLE state.coverage IS 'What is kept, and which blocks it can be told of; one row';
COMMENT ON COLUMN state.coverage.reader IS 'Reader that keeps it';
COMMENT ON COLUMN state.coverage.accounts IS 'Contracts whose rows are kept';
COMMENT ON COLUMN state.coverage.permissions IS 'Whether permissions and their links of all accounts are kept';
COMMENT ON COLUMN state.coverage.since_block IS 'First block that was kept; rows that no block since then has touched are not known when it is not the first of the chain';
COMMENT ON COLUMN state.coverage.history_from IS 'First block that can be told of; older versions have been dropped';

CREATE TABLE state.blocks (
  block_num integer PRIMARY KEY,
  reader text COLLATE "C" NOT NULL,
  block_time bigint NOT NULL,
  block_id bytea NOT NULL
);
COMMENT ON TABLE state.blocks IS 'The blocks of the kept history';
COMMENT ON COLUMN state.blocks.block_num IS 'Block number';
COMMENT ON COLUMN state.blocks.reader IS 'Reader that saw it';
COMMENT ON COLUMN state.blocks.block_time IS 'Time of the block, ms since 1970';
COMMENT ON COLUMN state.blocks.block_id IS 'Block id, 32 bytes';
CREATE INDEX state_blocks_time ON state.blocks (block_time, block_num);

CREATE TABLE state.tables (
  account text COLLATE "C" NOT NULL,
  table_name text COLLATE "C" NOT NULL,
  since_block integer NOT NULL,
  reader text COLLATE "C" NOT NULL,
  PRIMARY KEY (account, table_name)
);
COMMENT ON TABLE state.tables IS 'Contract tables that have ever had a row';
COMMENT ON COLUMN state.tables.account IS 'Contract';
COMMENT ON COLUMN state.tables.table_name IS 'Table';
COMMENT ON COLUMN state.tables.since_block IS 'Block in which its first row was seen';
COMMENT ON COLUMN state.tables.reader IS 'Reader that saw it';

CREATE TABLE state.rows (
  account text COLLATE "C" NOT NULL,
  table_name text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  primary_key bigint NOT NULL,
  since_block integer NOT NULL,
  payer text COLLATE "C" NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (account, table_name, scope, primary_key)
);
COMMENT ON TABLE state.rows IS 'Contract rows as they are';
COMMENT ON COLUMN state.rows.account IS 'Contract';
COMMENT ON COLUMN state.rows.table_name IS 'Table';
COMMENT ON COLUMN state.rows.scope IS 'Scope';
COMMENT ON COLUMN state.rows.primary_key IS 'Primary key less 2^63, which gives signed numbers the order of the unsigned ones';
COMMENT ON COLUMN state.rows.since_block IS 'Block that wrote it';
COMMENT ON COLUMN state.rows.payer IS 'Who pays for its memory';
COMMENT ON COLUMN state.rows.value IS 'Packed as the ABI of the contract says';
CREATE INDEX state_rows_since ON state.rows (since_block);

CREATE TABLE state.past_rows (
  account text COLLATE "C" NOT NULL,
  table_name text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  primary_key bigint NOT NULL,
  since_block integer NOT NULL,
  until_block integer NOT NULL,
  payer text COLLATE "C" NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (account, table_name, scope, primary_key, since_block)
);
COMMENT ON TABLE state.past_rows IS 'Contract rows as they were';
COMMENT ON COLUMN state.past_rows.account IS 'Contract';
COMMENT ON COLUMN state.past_rows.table_name IS 'Table';
COMMENT ON COLUMN state.past_rows.scope IS 'Scope';
COMMENT ON COLUMN state.past_rows.primary_key IS 'Primary key less 2^63, which gives signed numbers the order of the unsigned ones';
COMMENT ON COLUMN state.past_rows.since_block IS 'Block that wrote it';
COMMENT ON COLUMN state.past_rows.until_block IS 'Block that replaced or removed it';
COMMENT ON COLUMN state.past_rows.payer IS 'Who paid for its memory';
COMMENT ON COLUMN state.past_rows.value IS 'Packed as the ABI of the contract then said';
CREATE INDEX state_past_rows_until ON state.past_rows (until_block);

CREATE TABLE state.links (
  account text COLLATE "C" NOT NULL,
  contract text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  since_block integer NOT NULL,
  permission text COLLATE "C" NOT NULL,
  PRIMARY KEY (account, contract, action)
);
COMMENT ON TABLE state.links IS 'Which permission an account has linked to an action, as it is';
COMMENT ON COLUMN state.links.account IS 'Account';
COMMENT ON COLUMN state.links.contract IS 'Contract of the action';
COMMENT ON COLUMN state.links.action IS 'Action; empty for all actions of the contract';
COMMENT ON COLUMN state.links.since_block IS 'Block that linked it';
COMMENT ON COLUMN state.links.permission IS 'Permission of the account';
CREATE INDEX state_links_since ON state.links (since_block);

CREATE TABLE state.past_links (
  account text COLLATE "C" NOT NULL,
  contract text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  since_block integer NOT NULL,
  until_block integer NOT NULL,
  permission text COLLATE "C" NOT NULL,
  PRIMARY KEY (account, contract, action, since_block)
);
COMMENT ON TABLE state.past_links IS 'Which permission an account had linked to an action';
COMMENT ON COLUMN state.past_links.account IS 'Account';
COMMENT ON COLUMN state.past_links.contract IS 'Contract of the action';
COMMENT ON COLUMN state.past_links.action IS 'Action; empty for all actions of the contract';
COMMENT ON COLUMN state.past_links.since_block IS 'Block that linked it';
COMMENT ON COLUMN state.past_links.until_block IS 'Block that changed or ended it';
COMMENT ON COLUMN state.past_links.permission IS 'Permission of the account';
CREATE INDEX state_past_links_until ON state.past_links (until_block);

CREATE TABLE state.permissions (
  account text COLLATE "C" NOT NULL,
  permission text COLLATE "C" NOT NULL,
  since_block integer NOT NULL,
  keys text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (account, permission)
);
COMMENT ON TABLE state.permissions IS 'Public keys of each permission of each account, as they are';
COMMENT ON COLUMN state.permissions.account IS 'Account';
COMMENT ON COLUMN state.permissions.permission IS 'Permission';
COMMENT ON COLUMN state.permissions.since_block IS 'Block that set it';
COMMENT ON COLUMN state.permissions.keys IS 'Public keys as PUB_K1_…, PUB_R1_… or PUB_WA_…';
CREATE INDEX state_permissions_since ON state.permissions (since_block);

CREATE TABLE state.past_permissions (
  account text COLLATE "C" NOT NULL,
  permission text COLLATE "C" NOT NULL,
  since_block integer NOT NULL,
  until_block integer NOT NULL,
  keys text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (account, permission, since_block)
);
COMMENT ON TABLE state.past_permissions IS 'Public keys of each permission of each account, as they were';
COMMENT ON COLUMN state.past_permissions.account IS 'Account';
COMMENT ON COLUMN state.past_permissions.permission IS 'Permission';
COMMENT ON COLUMN state.past_permissions.since_block IS 'Block that set it';
COMMENT ON COLUMN state.past_permissions.until_block IS 'Block that changed or removed it';
COMMENT ON COLUMN state.past_permissions.keys IS 'Public keys as PUB_K1_…, PUB_R1_… or PUB_WA_…';
CREATE INDEX state_past_permissions_until ON state.past_permissions (until_block);
