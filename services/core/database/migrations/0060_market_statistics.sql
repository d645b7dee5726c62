-- What statistics of a time range and prices by day are answered from.

CREATE TABLE market.marketplace_accounts (
  token_symbol text COLLATE "C",
  marketplace text COLLATE "C",
  account text COLLATE "C",
  sells bigint NOT NULL,
  sell_volume numeric NOT NULL,
  buys bigint NOT NULL,
  buy_volume numeric NOT NULL,
  first_sold bigint,
  last_sold bigint,
  first_bought bigint,
  last_bought bigint,
  PRIMARY KEY (token_symbol, marketplace, account)
);
COMMENT ON TABLE market.marketplace_accounts IS 'Who traded through which marketplace, of all time: sellers through the marketplace of the listing, buyers through that of the purchase; the number of parties in a range of time follows from the first and last times';
COMMENT ON COLUMN market.marketplace_accounts.token_symbol IS 'Symbol code of the token that was paid';
COMMENT ON COLUMN market.marketplace_accounts.marketplace IS 'Marketplace';
COMMENT ON COLUMN market.marketplace_accounts.account IS 'Account';
COMMENT ON COLUMN market.marketplace_accounts.sells IS 'Number of trades in which the account sold and the marketplace was that of the listing';
COMMENT ON COLUMN market.marketplace_accounts.sell_volume IS 'Sum of their prices';
COMMENT ON COLUMN market.marketplace_accounts.buys IS 'Number of trades in which the account bought and the marketplace was that of the purchase';
COMMENT ON COLUMN market.marketplace_accounts.buy_volume IS 'Sum of their prices';
COMMENT ON COLUMN market.marketplace_accounts.first_sold IS 'Time of the first of these sales, ms since 1970; null without any';
COMMENT ON COLUMN market.marketplace_accounts.last_sold IS 'Time of the last of these sales, ms since 1970; null without any';
COMMENT ON COLUMN market.marketplace_accounts.first_bought IS 'Time of the first of these purchases, ms since 1970; null without any';
COMMENT ON COLUMN market.marketplace_accounts.last_bought IS 'Time of the last of these purchases, ms since 1970; null without any';

CREATE TABLE market.price_days (
  token_symbol text COLLATE "C",
  day integer,
  trades bigint NOT NULL,
  volume numeric NOT NULL,
  median bigint NOT NULL,
  PRIMARY KEY (token_symbol, day)
);
COMMENT ON TABLE market.price_days IS 'Prices of single assets by UTC day, of the days that were over at the last block; the day that runs is read from trades';
COMMENT ON COLUMN market.price_days.token_symbol IS 'Symbol code of the token that was paid';
COMMENT ON COLUMN market.price_days.day IS 'Days since 1970-01-01 UTC: floor(trade_time / 86400000)';
COMMENT ON COLUMN market.price_days.trades IS 'Number of trades of a single asset';
COMMENT ON COLUMN market.price_days.volume IS 'Sum of their prices';
COMMENT ON COLUMN market.price_days.median IS 'Median of their prices, the lower of the two in the middle';

SELECT chain.create_undo_twin(t::regclass) FROM unnest(ARRAY['market.marketplace_accounts', 'market.price_days']) t;

INSERT INTO market.marketplace_accounts
  SELECT p.token_symbol, p.marketplace, p.account, count(p.sold), coalesce(sum(p.price) FILTER (WHERE p.sold IS NOT NULL), 0),
    count(p.bought), coalesce(sum(p.price) FILTER (WHERE p.bought IS NOT NULL), 0), min(p.sold), max(p.sold), min(p.bought), max(p.bought)
  FROM (SELECT token_symbol, maker_marketplace AS marketplace, seller AS account, trade_time AS sold, NULL::bigint AS bought, price FROM market.trades
    UNION ALL SELECT token_symbol, taker_marketplace, buyer, NULL, trade_time, price FROM market.trades) p
  GROUP BY 1, 2, 3;
INSERT INTO market.price_days
  SELECT t.token_symbol, (t.trade_time / 86400000)::integer, count(*), sum(t.price), percentile_disc(0.5) WITHIN GROUP (ORDER BY t.price)
  FROM market.trades t
  WHERE t.asset_count = 1 AND t.trade_time / 86400000 < (
    SELECT r.block_time / 86400000 FROM chain.sources s JOIN chain.readers r ON r.name = s.reader WHERE s.family = 'market')
  GROUP BY 1, 2;
