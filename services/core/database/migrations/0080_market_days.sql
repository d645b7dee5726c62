-- What statistics of long ranges are summed up from, and which trades are of burned assets.

CREATE TABLE market.marketplace_days (
  token_symbol text COLLATE "C",
  day integer,
  maker_marketplace text COLLATE "C",
  taker_marketplace text COLLATE "C",
  trades bigint NOT NULL,
  volume numeric NOT NULL,
  PRIMARY KEY (token_symbol, day, maker_marketplace, taker_marketplace)
);
COMMENT ON TABLE market.marketplace_days IS 'Trades by UTC day and marketplaces, of all collections';
COMMENT ON COLUMN market.marketplace_days.token_symbol IS 'Symbol code of the token that was paid';
COMMENT ON COLUMN market.marketplace_days.day IS 'Days since 1970-01-01 UTC: floor(trade_time / 86400000)';
COMMENT ON COLUMN market.marketplace_days.maker_marketplace IS 'Marketplace of the listing';
COMMENT ON COLUMN market.marketplace_days.taker_marketplace IS 'Marketplace of the purchase';
COMMENT ON COLUMN market.marketplace_days.trades IS 'Number of trades';
COMMENT ON COLUMN market.marketplace_days.volume IS 'Sum of their prices';

CREATE TABLE market.collection_days (
  token_symbol text COLLATE "C",
  collection_name text COLLATE "C",
  day integer,
  trades bigint NOT NULL,
  volume numeric NOT NULL,
  PRIMARY KEY (token_symbol, collection_name, day)
);
COMMENT ON TABLE market.collection_days IS 'Trades by UTC day and collection';
COMMENT ON COLUMN market.collection_days.token_symbol IS 'Symbol code of the token that was paid';
COMMENT ON COLUMN market.collection_days.collection_name IS 'Collection';
COMMENT ON COLUMN market.collection_days.day IS 'Days since 1970-01-01 UTC: floor(trade_time / 86400000)';
COMMENT ON COLUMN market.collection_days.trades IS 'Number of trades';
COMMENT ON COLUMN market.collection_days.volume IS 'Sum of their prices';

CREATE TABLE market.schema_days (
  token_symbol text COLLATE "C",
  collection_name text COLLATE "C",
  schema_name text COLLATE "C",
  day integer,
  trades bigint NOT NULL,
  volume numeric NOT NULL,
  sales bigint NOT NULL,
  sale_volume numeric NOT NULL,
  listings bigint NOT NULL,
  PRIMARY KEY (token_symbol, collection_name, schema_name, day)
);
COMMENT ON TABLE market.schema_days IS 'market.schema_stats by UTC day';
COMMENT ON COLUMN market.schema_days.token_symbol IS 'Symbol code of the token that was or is to be paid';
COMMENT ON COLUMN market.schema_days.collection_name IS 'Collection';
COMMENT ON COLUMN market.schema_days.schema_name IS 'Schema';
COMMENT ON COLUMN market.schema_days.day IS 'Days since 1970-01-01 UTC: of the trade, of the sale, or on which what is listed was listed';
COMMENT ON COLUMN market.schema_days.trades IS 'Number of trades of a single asset that has a template';
COMMENT ON COLUMN market.schema_days.volume IS 'Sum of their prices';
COMMENT ON COLUMN market.schema_days.sales IS 'Number of sold sales; a bundle counts once for each of its schemas';
COMMENT ON COLUMN market.schema_days.sale_volume IS 'Sum of their prices';
COMMENT ON COLUMN market.schema_days.listings IS 'Number of sales in state 1 or 4';

CREATE TABLE market.marketplace_stats (
  token_symbol text COLLATE "C",
  marketplace text COLLATE "C",
  sellers bigint NOT NULL,
  sell_volume numeric NOT NULL,
  buyers bigint NOT NULL,
  buy_volume numeric NOT NULL,
  PRIMARY KEY (token_symbol, marketplace)
);
COMMENT ON TABLE market.marketplace_stats IS 'Sums over market.marketplace_accounts';
COMMENT ON COLUMN market.marketplace_stats.token_symbol IS 'Symbol code of the token that was paid';
COMMENT ON COLUMN market.marketplace_stats.marketplace IS 'Marketplace';
COMMENT ON COLUMN market.marketplace_stats.sellers IS 'Accounts with a sale on a listing of the marketplace';
COMMENT ON COLUMN market.marketplace_stats.sell_volume IS 'Sum of the prices of these sales';
COMMENT ON COLUMN market.marketplace_stats.buyers IS 'Accounts with a purchase through the marketplace';
COMMENT ON COLUMN market.marketplace_stats.buy_volume IS 'Sum of the prices of these purchases';

SELECT chain.create_undo_twin(t::regclass) FROM unnest(ARRAY[
  'market.marketplace_days', 'market.collection_days', 'market.schema_days', 'market.marketplace_stats'
]) t;

INSERT INTO market.marketplace_days
  SELECT token_symbol, day, maker_marketplace, taker_marketplace, sum(trades), sum(volume) FROM market.trade_days GROUP BY 1, 2, 3, 4;
INSERT INTO market.collection_days
  SELECT token_symbol, collection_name, day, sum(trades), sum(volume) FROM market.trade_days GROUP BY 1, 2, 3;
INSERT INTO market.schema_days
  SELECT s.token_symbol, s.collection_name, s.schema_name, s.day, sum(s.trades), sum(s.volume), sum(s.sales), sum(s.sale_volume), sum(s.listings)
  FROM (
    SELECT token_symbol, collection_name, schema_name, (trade_time / 86400000)::integer AS day, 1 AS trades, price AS volume,
      0 AS sales, 0 AS sale_volume, 0 AS listings
    FROM market.trades WHERE asset_count = 1 AND template_id IS NOT NULL AND schema_name IS NOT NULL
    UNION ALL
    SELECT settlement_symbol, collection_name, unnest(schema_names), (updated_at_time / 86400000)::integer, 0, 0, 1, price, 0
    FROM market.sales WHERE state = 3 AND price IS NOT NULL
    UNION ALL
    SELECT settlement_symbol, collection_name, unnest(schema_names), (created_at_time / 86400000)::integer, 0, 0, 0, 0, 1
    FROM market.sales WHERE state IN (1, 4)
  ) s GROUP BY 1, 2, 3, 4;

INSERT INTO market.marketplace_stats
  SELECT token_symbol, marketplace, count(*) FILTER (WHERE sells > 0), sum(sell_volume), count(*) FILTER (WHERE buys > 0), sum(buy_volume)
  FROM market.marketplace_accounts GROUP BY 1, 2;

-- An asset is burned once and for all, so a trade is written again at most once for it.
ALTER TABLE market.trades ADD asset_burned boolean;
COMMENT ON COLUMN market.trades.asset_burned IS 'Whether the single asset is burned; null for bundles and assets that are not known';
ALTER TABLE undo.market_trades ADD asset_burned boolean;
UPDATE market.trades t SET asset_burned = a.owner IS NULL FROM assets.assets a WHERE a.asset_id = t.asset_id;
UPDATE undo.market_trades u SET asset_burned = t.asset_burned FROM market.trades t
WHERE t.kind = u.kind AND t.listing_id = u.listing_id AND u.undo_existed;

-- One with the number of assets besides, which lets prices of single assets be read from it alone, takes its place.
DROP INDEX IF EXISTS market.trades_collection_day_idx;
