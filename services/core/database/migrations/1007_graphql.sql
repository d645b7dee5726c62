-- What GraphQL shows: views in place of the tables, with the names of REST. Tables may change below them.
--
-- A column that needs other tables reads them in a subquery of its own, or by a left join on a unique key: a query that
-- does not ask for the column does not read them. Conditions and sort keys on the other columns reach the indexes of the
-- tables. infra/hasura/catalogue.yaml lists the relationships.
--
-- The role of GraphQL may read these views and no table. Views read with the rights of their owner, functions with those of
-- the client: a function that reads tables has no place here.

CREATE SCHEMA graphql;
COMMENT ON SCHEMA graphql IS 'Views that GraphQL shows';

CREATE VIEW graphql.collections AS
  SELECT c.collection_name, c.data ->> 'name' AS name, c.author, c.allow_notify, c.authorized_accounts, c.notify_accounts,
    c.market_fee, c.data, coalesce(n.minted, 0) AS minted, coalesce(n.burned, 0) AS burned,
    c.created_at_block, c.created_at_time
  FROM assets.collections c LEFT JOIN assets.collection_counts n USING (collection_name);

CREATE VIEW graphql.schemas AS
  SELECT s.collection_name, s.schema_name, s.format, coalesce(n.minted, 0) AS minted, coalesce(n.burned, 0) AS burned,
    s.created_at_block, s.created_at_time
  FROM assets.schemas s LEFT JOIN assets.schema_counts n USING (collection_name, schema_name);

CREATE VIEW graphql.templates AS
  SELECT t.template_id, t.collection_name, t.schema_name,
    (coalesce(t.mutable_data, '{}') || t.immutable_data) ->> 'name' AS name,
    t.transferable AS is_transferable, t.burnable AS is_burnable, t.max_supply, t.issued_supply, t.immutable_data,
    coalesce(t.mutable_data, '{}') AS mutable_data, coalesce(n.minted, 0) AS minted, coalesce(n.burned, 0) AS burned,
    t.created_at_block, t.created_at_time, t.deleted_at_block, t.deleted_at_time
  FROM assets.templates t LEFT JOIN assets.template_counts n USING (template_id);

-- The names come from the schema: a condition on the collection finds its schemas, and assets by their key.
CREATE VIEW graphql.assets AS
  SELECT a.asset_id, a.owner, s.collection_name, s.schema_name, a.template_id, a.template_mint,
    market.asset_name(t.immutable_data, a.immutable_data, a.mutable_data, t.mutable_data) AS name,
    coalesce(t.mutable_data, '{}') || coalesce(a.mutable_data, '{}') || coalesce(a.immutable_data, '{}')
      || coalesce(t.immutable_data, '{}') AS data,
    coalesce(a.immutable_data, '{}') AS immutable_data, coalesce(a.mutable_data, '{}') AS mutable_data,
    coalesce(t.transferable, true) AS is_transferable, coalesce(t.burnable, true) AS is_burnable,
    a.minter, a.initial_receiver, a.ram_payer, a.burned_by_account,
    a.minted_at_block, a.minted_at_time, a.transferred_at_block, a.transferred_at_time,
    a.updated_at_block, a.updated_at_time, a.burned_at_block, a.burned_at_time
  FROM assets.assets a
    LEFT JOIN assets.schemas s ON s.schema_key = a.schema_key
    LEFT JOIN assets.templates t ON t.template_id = a.template_id;

CREATE VIEW graphql.backed_tokens AS
  SELECT b.asset_id, b.token_symbol, t.token_precision, t.token_contract, b.amount
  FROM assets.backed_tokens b LEFT JOIN assets.tokens t USING (token_symbol);

CREATE VIEW graphql.accounts AS
  SELECT a.account, a.assets AS assets_count, coalesce(b.assets, 0) AS burned_count,
    EXISTS (SELECT FROM chain.code_accounts c WHERE c.account = a.account) AS is_contract
  FROM assets.accounts a LEFT JOIN assets.burners b USING (account);

CREATE VIEW graphql.holders AS
  SELECT collection_name, account, assets AS assets_count FROM assets.collection_accounts;

CREATE VIEW graphql.offers AS
  SELECT o.offer_id, o.sender AS sender_name, o.recipient AS recipient_name, o.state, o.memo, o.collection_names,
    cardinality(o.sender_asset_ids) AS sender_assets_count, cardinality(o.recipient_asset_ids) AS recipient_assets_count,
    o.created_at_block, o.created_at_time, o.updated_at_block, o.updated_at_time
  FROM assets.offers o;

CREATE VIEW graphql.offer_sender_assets AS
  SELECT o.offer_id, u.place::integer AS place, u.asset_id
  FROM assets.offers o CROSS JOIN unnest(o.sender_asset_ids) WITH ORDINALITY u(asset_id, place);

CREATE VIEW graphql.offer_recipient_assets AS
  SELECT o.offer_id, u.place::integer AS place, u.asset_id
  FROM assets.offers o CROSS JOIN unnest(o.recipient_asset_ids) WITH ORDINALITY u(asset_id, place);

CREATE VIEW graphql.asset_offers AS
  SELECT asset_id, offer_id FROM assets.open_offer_assets;

CREATE VIEW graphql.transfers AS
  SELECT t.transfer_id, t.sender AS sender_name, t.recipient AS recipient_name, t.collection_name, t.memo,
    cardinality(t.asset_ids) AS assets_count,
    (SELECT b.block_num FROM assets.blocks b WHERE b.first_seq <= t.transfer_id ORDER BY b.first_seq DESC LIMIT 1) AS created_at_block,
    (SELECT b.block_time FROM assets.blocks b WHERE b.first_seq <= t.transfer_id ORDER BY b.first_seq DESC LIMIT 1) AS created_at_time,
    (SELECT encode(substr(b.txids, 32 * width_bucket((t.transfer_id - b.first_seq)::integer, b.tx_offsets) - 31, 32), 'hex')
      FROM assets.blocks b WHERE b.first_seq <= t.transfer_id ORDER BY b.first_seq DESC LIMIT 1) AS txid
  FROM assets.transfers t;

CREATE VIEW graphql.transfer_assets AS
  SELECT t.transfer_id, u.place::integer AS place, u.asset_id
  FROM assets.transfers t CROSS JOIN unnest(t.asset_ids) WITH ORDINALITY u(asset_id, place);

-- The other direction reads the index of the contents for each asset.
CREATE VIEW graphql.asset_transfers AS
  SELECT a.asset_id, t.transfer_id
  FROM assets.assets a JOIN assets.transfers t ON t.asset_ids @> ARRAY[a.asset_id];

CREATE VIEW graphql.asset_logs AS
  SELECT l.seq AS log_id, l.subject AS asset_id, n.name, l.data,
    (SELECT b.block_num FROM assets.blocks b WHERE b.first_seq <= l.seq ORDER BY b.first_seq DESC LIMIT 1) AS created_at_block,
    (SELECT b.block_time FROM assets.blocks b WHERE b.first_seq <= l.seq ORDER BY b.first_seq DESC LIMIT 1) AS created_at_time,
    (SELECT encode(substr(b.txids, 32 * width_bucket((l.seq - b.first_seq)::integer, b.tx_offsets) - 31, 32), 'hex')
      FROM assets.blocks b WHERE b.first_seq <= l.seq ORDER BY b.first_seq DESC LIMIT 1) AS txid
  FROM assets.logs l JOIN assets.log_actions n USING (action) WHERE n.subject = 'asset';

-- As in REST, a sale that was announced but carries no offer yet is not shown.
CREATE VIEW graphql.sales AS
  SELECT s.sale_id, s.seller, s.buyer, s.state, s.offer_id,
    coalesce(s.price, (
      SELECT market.settlement_price(s.listing_price, r.factor, r.divisor) FROM market.rates r
      WHERE r.listing_symbol = s.listing_symbol AND r.settlement_symbol = s.settlement_symbol)) AS price,
    s.settlement_symbol AS token_symbol, s.settlement_precision AS token_precision,
    s.listing_price, s.listing_symbol, s.listing_precision, s.collection_name, s.schema_name, s.template_id,
    CASE WHEN s.asset_count = 1 THEN s.asset_ids[1] END AS asset_id, s.asset_count AS assets_count, s.name,
    s.min_mint, s.max_mint, s.collection_fee, s.maker_marketplace, s.taker_marketplace,
    s.created_at_block, s.created_at_time, s.updated_at_block, s.updated_at_time
  FROM market.sales s WHERE s.offer_id IS NOT NULL;

CREATE VIEW graphql.listed_sales AS
  SELECT * FROM graphql.sales WHERE state = 1;

CREATE VIEW graphql.sale_assets AS
  SELECT s.sale_id, u.place::integer AS place, u.asset_id
  FROM market.sales s CROSS JOIN unnest(s.asset_ids) WITH ORDINALITY u(asset_id, place) WHERE s.offer_id IS NOT NULL;

CREATE VIEW graphql.auctions AS
  SELECT a.auction_id, a.seller, a.buyer,
    market.auction_state(a.state, a.end_time, a.buyer, a.asset_count, a.claimed_by_seller OR a.claimed_by_buyer,
      (extract(epoch FROM now()) * 1000)::bigint, (SELECT c.v2_since_block IS NOT NULL FROM market.config c)) AS state,
    a.price, a.starting_price, a.token_symbol, a.end_time * 1000 AS end_time, a.claimed_by_buyer, a.claimed_by_seller,
    a.collection_name, a.schema_name, a.template_id,
    CASE WHEN a.asset_count = 1 THEN a.asset_ids[1] END AS asset_id, a.asset_count AS assets_count, a.name,
    a.min_mint, a.max_mint, a.collection_fee, a.maker_marketplace, a.taker_marketplace,
    a.created_at_block, a.created_at_time, a.updated_at_block, a.updated_at_time
  FROM market.auctions a;

CREATE VIEW graphql.auction_assets AS
  SELECT a.auction_id, u.place::integer AS place, u.asset_id
  FROM market.auctions a CROSS JOIN unnest(a.asset_ids) WITH ORDINALITY u(asset_id, place);

CREATE VIEW graphql.bids AS
  SELECT i.seq AS bid_id, i.auction_id, i.account, i.amount,
    (SELECT count(*)::integer FROM market.bids c WHERE c.auction_id = i.auction_id AND c.seq <= i.seq) AS number,
    (SELECT b.block_num FROM market.blocks b WHERE b.first_seq <= i.seq ORDER BY b.first_seq DESC LIMIT 1) AS created_at_block,
    (SELECT b.block_time FROM market.blocks b WHERE b.first_seq <= i.seq ORDER BY b.first_seq DESC LIMIT 1) AS created_at_time,
    (SELECT encode(substr(b.txids, 32 * width_bucket((i.seq - b.first_seq)::integer, b.tx_offsets) - 31, 32), 'hex')
      FROM market.blocks b WHERE b.first_seq <= i.seq ORDER BY b.first_seq DESC LIMIT 1) AS txid
  FROM market.bids i;

CREATE VIEW graphql.buyoffers AS
  SELECT b.buyoffer_id, b.buyer, b.seller, b.state, b.price, b.token_symbol, b.memo, b.decline_memo,
    b.collection_name, b.schema_name, b.template_id,
    CASE WHEN b.asset_count = 1 THEN b.asset_ids[1] END AS asset_id, b.asset_count AS assets_count, b.name,
    b.min_mint, b.max_mint, b.collection_fee, b.maker_marketplace, b.taker_marketplace,
    b.created_at_block, b.created_at_time, b.updated_at_block, b.updated_at_time
  FROM market.buyoffers b;

CREATE VIEW graphql.buyoffer_assets AS
  SELECT b.buyoffer_id, u.place::integer AS place, u.asset_id
  FROM market.buyoffers b CROSS JOIN unnest(b.asset_ids) WITH ORDINALITY u(asset_id, place);

CREATE VIEW graphql.template_buyoffers AS
  SELECT b.buyoffer_id, b.buyer, b.seller, b.state, b.price, b.token_symbol, b.collection_name, b.schema_name,
    b.template_id, b.asset_id, b.name, b.mint AS template_mint, b.collection_fee, b.maker_marketplace, b.taker_marketplace,
    b.created_at_block, b.created_at_time, b.updated_at_block, b.updated_at_time
  FROM market.template_buyoffers b;

CREATE VIEW graphql.trades AS
  SELECT CASE t.kind WHEN 1 THEN 'sale' WHEN 2 THEN 'auction' WHEN 3 THEN 'buyoffer' ELSE 'template_buyoffer' END AS listing_type,
    t.listing_id, CASE WHEN t.kind = 1 THEN t.listing_id END AS sale_id,
    CASE WHEN t.kind = 2 THEN t.listing_id END AS auction_id, CASE WHEN t.kind = 3 THEN t.listing_id END AS buyoffer_id,
    CASE WHEN t.kind = 4 THEN t.listing_id END AS template_buyoffer_id, t.trade_time, t.price, t.token_symbol, t.seller,
    t.buyer, t.collection_name, t.schema_name, t.template_id, t.asset_id, t.template_mint, t.asset_count AS assets_count,
    t.maker_marketplace, t.taker_marketplace
  FROM market.trades t;

CREATE VIEW graphql.asset_listings AS
  SELECT l.asset_id,
    CASE l.kind WHEN 1 THEN 'sale' WHEN 2 THEN 'auction' WHEN 3 THEN 'buyoffer' ELSE 'template_buyoffer' END AS listing_type,
    l.listing_id, CASE WHEN l.kind = 1 THEN l.listing_id END AS sale_id,
    CASE WHEN l.kind = 2 THEN l.listing_id END AS auction_id, CASE WHEN l.kind = 3 THEN l.listing_id END AS buyoffer_id,
    CASE WHEN l.kind = 4 THEN l.listing_id END AS template_buyoffer_id
  FROM market.listing_assets l;

CREATE VIEW graphql.template_prices AS
  SELECT p.template_id, p.token_symbol, p.collection_name, p.trades, p.volume, p.median, p.average, p.min, p.max,
    least(p.suggested_median, f.price) AS suggested_median,
    least(p.suggested_average, f.price) AS suggested_average, p.floor_price
  FROM market.template_prices p
    LEFT JOIN LATERAL (
      SELECT min(market.settlement_price(f.value::bigint, r.factor, r.divisor)) AS price
      FROM jsonb_each_text(p.oracle_floors) f
        JOIN market.rates r ON r.listing_symbol = f.key AND r.settlement_symbol = p.token_symbol) f ON true;

-- A condition on the name alone is looked up for each token.
CREATE VIEW graphql.collection_stats AS
  SELECT c.collection_name, t.token_symbol, c.trades, c.volume, c.sales, c.sale_volume
  FROM market.tokens t JOIN market.collection_stats c USING (token_symbol);

CREATE VIEW graphql.account_stats AS
  SELECT a.account, t.token_symbol, a.sells, a.sell_volume, a.buys, a.buy_volume
  FROM market.tokens t JOIN market.account_stats a USING (token_symbol);

CREATE VIEW graphql.tokens AS
  SELECT token_symbol, token_precision, token_contract FROM market.tokens;

CREATE VIEW graphql.marketplaces AS
  SELECT marketplace_name, creator, created_at_block, created_at_time FROM market.marketplaces;

CREATE VIEW graphql.rates AS
  SELECT listing_symbol, settlement_symbol, pair_name, median, median_precision FROM market.rates;

CREATE VIEW graphql.royalty_payouts AS
  SELECT p.seq AS payout_id, p.payout_index, p.collection_name, p.recipient, p.amount, p.token_symbol,
    (ARRAY['founders', 'template', 'attribute', 'dust'])[p.category] AS category,
    (ARRAY['sale', 'auction', 'buyoffer', 'template_buyoffer'])[p.kind] AS listing_type, p.listing_id, p.asset_id,
    p.template_id, p.paid_at_time
  FROM market.royalty_payouts p;

CREATE VIEW graphql.links AS
  SELECT l.link_id, l.creator, l.claimer, l.state, l.public_key, l.memo, l.collection_names,
    l.created_at_block, l.created_at_time, l.updated_at_block, l.updated_at_time
  FROM tools.links l;

CREATE VIEW graphql.link_assets AS
  SELECT l.link_id, u.place::integer AS place, u.asset_id
  FROM tools.links l CROSS JOIN unnest(l.asset_ids) WITH ORDINALITY u(asset_id, place);

CREATE VIEW graphql.readers AS
  SELECT name, start_block, block_num, block_time FROM chain.readers;

-- Views and columns say what the tables say; after that, what has another name or meaning.
DO $$
DECLARE
  pair record;
  col record;
BEGIN
  FOR pair IN VALUES
    ('collections', 'assets.collections'), ('schemas', 'assets.schemas'), ('templates', 'assets.templates'),
    ('assets', 'assets.assets'), ('backed_tokens', 'assets.backed_tokens'), ('backed_tokens', 'assets.tokens'),
    ('accounts', 'assets.accounts'), ('holders', 'assets.collection_accounts'), ('offers', 'assets.offers'),
    ('offer_sender_assets', 'assets.offers'), ('offer_recipient_assets', 'assets.offers'),
    ('asset_offers', 'assets.open_offer_assets'), ('transfers', 'assets.transfers'), ('transfer_assets', 'assets.transfers'),
    ('asset_transfers', 'assets.transfers'), ('asset_logs', 'assets.logs'), ('sales', 'market.sales'),
    ('listed_sales', 'market.sales'), ('sale_assets', 'market.sales'), ('auctions', 'market.auctions'),
    ('auction_assets', 'market.auctions'), ('bids', 'market.bids'), ('buyoffers', 'market.buyoffers'),
    ('buyoffer_assets', 'market.buyoffers'), ('template_buyoffers', 'market.template_buyoffers'),
    ('trades', 'market.trades'), ('asset_listings', 'market.listing_assets'), ('template_prices', 'market.template_prices'),
    ('collection_stats', 'market.collection_stats'), ('account_stats', 'market.account_stats'), ('tokens', 'market.tokens'),
    ('marketplaces', 'market.marketplaces'), ('rates', 'market.rates'), ('royalty_payouts', 'market.royalty_payouts'),
    ('links', 'tools.links'), ('link_assets', 'tools.links'), ('readers', 'chain.readers')
  LOOP
    IF obj_description(('graphql.' || pair.column1)::regclass, 'pg_class') IS NULL THEN
      EXECUTE format('COMMENT ON VIEW graphql.%I IS %L', pair.column1, obj_description(pair.column2::regclass, 'pg_class'));
    END IF;
    FOR col IN
      SELECT v.attname, col_description(t.attrelid, t.attnum) AS comment
      FROM pg_attribute v JOIN pg_attribute t ON t.attname = v.attname AND t.attrelid = pair.column2::regclass AND t.attnum > 0
      WHERE v.attrelid = ('graphql.' || pair.column1)::regclass AND v.attnum > 0
    LOOP
      EXECUTE format('COMMENT ON COLUMN graphql.%I.%I IS %L', pair.column1, col.attname, col.comment);
    END LOOP;
  END LOOP;
  FOR col IN
    SELECT c.relname, v.attname, d.comment
    FROM (VALUES
      ('place', 'Place in the list, from 1'), ('asset_id', 'Asset'), ('assets_count', 'Number of assets'),
      ('minted', 'Assets ever minted'), ('burned', 'Of these, burned'), ('sender_name', 'Account that gives'),
      ('recipient_name', 'Account that receives'), ('sender_assets_count', 'Number of assets that the sender gives'),
      ('recipient_assets_count', 'Number of assets that the recipient gives'), ('transfer_id', 'Transfer'),
      ('created_at_block', 'Block'), ('created_at_time', 'Time of the block, ms since 1970'), ('txid', 'Transaction id, 64 hexadecimal digits'),
      ('log_id', 'Global sequence of the action'), ('bid_id', 'Global sequence of the auctionbid action'),
      ('payout_id', 'Global sequence of the log action'), ('number', 'Place among the bids of the auction, from 1'),
      ('token_precision', 'Decimal places'), ('token_symbol', 'Symbol code of the token that is paid'),
      ('is_transferable', 'Whether the template allows transfers; true without a template'),
      ('is_burnable', 'Whether the template allows burning; true without a template'),
      ('is_contract', 'Whether the account has ever deployed code'), ('burned_count', 'Assets that the account burned'),
      ('listing_type', 'sale, auction, buyoffer or template_buyoffer'), ('sale_id', 'Sale; null for other listings'),
      ('auction_id', 'Auction; null for other listings'), ('buyoffer_id', 'Buy offer; null for other listings'),
      ('template_buyoffer_id', 'Template buy offer; null for other listings'), ('listing_id', 'Id of the listing'),
      ('name', 'Attribute name'), ('data', 'Merged attributes'), ('template_mint', 'Mint number within the template, from 1')
    ) d(attname, comment)
    JOIN pg_attribute v ON v.attname = d.attname AND v.attnum > 0
    JOIN pg_class c ON c.oid = v.attrelid AND c.relnamespace = 'graphql'::regnamespace
    WHERE col_description(v.attrelid, v.attnum) IS NULL
  LOOP
    EXECUTE format('COMMENT ON COLUMN graphql.%I.%I IS %L', col.relname, col.attname, col.comment);
  END LOOP;
END $$;
COMMENT ON VIEW graphql.offer_sender_assets IS 'Assets that the senders of offers give';
COMMENT ON VIEW graphql.offer_recipient_assets IS 'Assets that the recipients of offers give';
COMMENT ON VIEW graphql.asset_offers IS 'Open offers of an asset; to be read with a condition on asset_id';
COMMENT ON VIEW graphql.transfers IS 'Transfers; sort by transfer_id, which grows with time';
COMMENT ON VIEW graphql.transfer_assets IS 'Assets of transfers';
COMMENT ON VIEW graphql.asset_transfers IS 'Transfers of an asset; to be read with a condition on asset_id';
COMMENT ON VIEW graphql.asset_logs IS 'What happened to assets after their mint';
COMMENT ON COLUMN graphql.asset_logs.name IS 'Action name';
COMMENT ON COLUMN graphql.asset_logs.data IS 'What the action said beyond the asset; null for logsetdata, whose attributes are packed: REST shows them';
COMMENT ON VIEW graphql.sales IS 'Sales that carry an offer';
COMMENT ON VIEW graphql.listed_sales IS 'Sales that can be bought now: state 1';
COMMENT ON COLUMN graphql.sales.price IS 'Amount in units of token_symbol; of a sale that an oracle prices, at its newest median';
COMMENT ON COLUMN graphql.listed_sales.price IS 'Amount in units of token_symbol; of a sale that an oracle prices, at its newest median';
COMMENT ON COLUMN graphql.sales.asset_id IS 'Asset when it is only one';
COMMENT ON COLUMN graphql.listed_sales.asset_id IS 'Asset when it is only one';
COMMENT ON COLUMN graphql.auctions.asset_id IS 'Asset when it is only one';
COMMENT ON COLUMN graphql.buyoffers.asset_id IS 'Asset when it is only one';
COMMENT ON VIEW graphql.sale_assets IS 'Assets of sales';
COMMENT ON COLUMN graphql.auctions.state IS '0 waiting, 1 running, 2 cancelled, 3 sold, 4 ended without a bid, or a bundle that version 2 refunds';
COMMENT ON COLUMN graphql.auctions.end_time IS 'End, ms since 1970; late bids move it';
COMMENT ON VIEW graphql.auction_assets IS 'Assets of auctions';
COMMENT ON VIEW graphql.buyoffer_assets IS 'Assets of buy offers';
COMMENT ON VIEW graphql.asset_listings IS 'Listings of an asset, whatever their state; to be read with a condition on asset_id';
COMMENT ON COLUMN graphql.royalty_payouts.category IS 'founders, template, attribute or dust';
COMMENT ON COLUMN graphql.template_prices.suggested_median IS 'Suggested price: the recent median, at most the lowest price of a listed sale';
COMMENT ON COLUMN graphql.template_prices.suggested_average IS 'The same of the recent average';
COMMENT ON VIEW graphql.link_assets IS 'Assets of links';
COMMENT ON VIEW graphql.rates IS 'Medians of the oracle pairs that sales are priced by';
COMMENT ON VIEW graphql.readers IS 'The last block of each reader';
