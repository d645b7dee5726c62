-- Template buy offers are found by what their asset has from the mint on, too (see 0075).
ALTER TABLE market.template_buyoffers ADD traits integer[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN market.template_buyoffers.traits IS 'market.asset_traits of the asset that was given; empty until sold';
ALTER TABLE undo.market_template_buyoffers ADD traits integer[];

UPDATE market.template_buyoffers l SET traits = market.asset_traits(a.minter, a.initial_receiver, a.immutable_data)
FROM assets.assets a WHERE a.asset_id = l.asset_id;
-- An old image may be of before the sale. Those of rows that did not exist hold nothing but the key.
UPDATE undo.market_template_buyoffers u SET traits = '{}' WHERE u.undo_existed;
UPDATE undo.market_template_buyoffers u SET traits = l.traits
FROM market.template_buyoffers l WHERE l.buyoffer_id = u.buyoffer_id AND l.asset_id = u.asset_id;
