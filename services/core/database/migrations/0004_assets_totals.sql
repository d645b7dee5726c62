-- Totals that lists of the assets family ask for, and what the planner must know to choose well.

CREATE TABLE assets.burners (
  account text COLLATE "C" PRIMARY KEY,
  assets bigint NOT NULL
);
COMMENT ON TABLE assets.burners IS 'How many assets each account burned; accounts without any have no row';
COMMENT ON COLUMN assets.burners.account IS 'Account that burned them';
COMMENT ON COLUMN assets.burners.assets IS 'Assets burned';

CREATE TABLE assets.collection_accounts (
  collection_name text COLLATE "C",
  account text COLLATE "C",
  assets bigint NOT NULL,
  PRIMARY KEY (collection_name, account)
);
COMMENT ON TABLE assets.collection_accounts IS 'How many assets of each collection each account owns; without any there is no row';
COMMENT ON COLUMN assets.collection_accounts.collection_name IS 'Collection';
COMMENT ON COLUMN assets.collection_accounts.account IS 'Owner';
COMMENT ON COLUMN assets.collection_accounts.assets IS 'Assets owned';

CREATE TABLE assets.transfer_counts (
  collection_name text COLLATE "C" PRIMARY KEY,
  transfers bigint NOT NULL
);
COMMENT ON TABLE assets.transfer_counts IS 'Transfers per collection; collections without any have no row';
COMMENT ON COLUMN assets.transfer_counts.collection_name IS 'Collection';
COMMENT ON COLUMN assets.transfer_counts.transfers IS 'Rows of transfers';

CREATE TABLE assets.offer_counts (
  state smallint PRIMARY KEY,
  offers bigint NOT NULL
);
COMMENT ON TABLE assets.offer_counts IS 'Offers by state; states without any have no row';
COMMENT ON COLUMN assets.offer_counts.state IS 'State as in offers';
COMMENT ON COLUMN assets.offer_counts.offers IS 'Rows of offers';

SELECT chain.create_undo_twin(t::regclass)
FROM unnest(ARRAY[
  'assets.burners', 'assets.collection_accounts', 'assets.transfer_counts', 'assets.offer_counts'
]) t;

INSERT INTO assets.burners
  SELECT burned_by_account, count(*) FROM assets.assets WHERE burned_by_account IS NOT NULL GROUP BY 1;
INSERT INTO assets.collection_accounts
  SELECT collection_name, owner, count(*) FROM assets.assets WHERE owner IS NOT NULL GROUP BY 1, 2;
INSERT INTO assets.transfer_counts SELECT collection_name, count(*) FROM assets.transfers GROUP BY 1;
INSERT INTO assets.offer_counts SELECT state, count(*) FROM assets.offers GROUP BY 1;

-- An asset never changes its collection, so neither do the collections of an offer.
ALTER TABLE assets.offers ADD collection_names text[] COLLATE "C" NOT NULL DEFAULT '{}';
COMMENT ON COLUMN assets.offers.collection_names IS 'Collections of its assets, each once, by name; of assets that were known when it was made';
ALTER TABLE undo.assets_offers ADD collection_names text[] COLLATE "C";
UPDATE assets.offers o SET collection_names = v.names
FROM (SELECT p.offer_id, array_agg(DISTINCT a.collection_name) AS names
      FROM assets.offers p JOIN assets.assets a ON a.asset_id = ANY(p.sender_asset_ids || p.recipient_asset_ids)
      GROUP BY 1) v
WHERE v.offer_id = o.offer_id;
UPDATE undo.assets_offers u SET collection_names = o.collection_names FROM assets.offers o
WHERE o.offer_id = u.offer_id AND u.undo_existed;

-- Whether a list is read in its order or by its filter depends on how many rows the filter's value has: the values
-- that many rows have must be known one by one.
ALTER TABLE assets.assets
  ALTER owner SET STATISTICS 500, ALTER collection_name SET STATISTICS 500, ALTER schema_name SET STATISTICS 500,
  ALTER template_id SET STATISTICS 500, ALTER minter SET STATISTICS 500, ALTER initial_receiver SET STATISTICS 500,
  ALTER burned_by_account SET STATISTICS 500;
ALTER TABLE assets.offers ALTER sender SET STATISTICS 500, ALTER recipient SET STATISTICS 500;
