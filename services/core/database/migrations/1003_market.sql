-- The market family: sales, auctions, buy offers, template buy offers, what was traded, and what follows from it.
-- One database holds one market contract, so no row repeats its account; market.config has it on its only row.
--
-- The model
--
-- Four kinds of listing, each in a table of its own with the same columns as far as they mean the same:
--   1 sale, 2 auction, 3 buy offer, 4 template buy offer (the numbers are used wherever a row names a listing of any kind).
-- Every listing carries what lists filter and sort by and what never changes (asset_ids in order, template_ids,
-- schema_names, mint range), the names of its assets as they are now, and its state as clients know it:
--   sales                 0 waiting, 1 listed, 2 cancelled, 3 sold, 4 invalid (started, but its offer is not pending: moves
--                         between 1 and 4 as assets leave and come back, without touching updated_at)
--   auctions              0 waiting, 1 started, 2 cancelled. What the clock makes of a started one is what
--                         market.auction_state() returns: 1 running, 3 sold, 4 ended without bid or a bundle that v2 refunds
--   buy offers            0 pending, 1 declined, 2 cancelled, 3 accepted, 4 invalid (pending, but an asset is not with the
--                         recipient; moves between 0 and 4 like sales)
--   template buy offers   0 listed, 1 cancelled, 2 sold
-- listing_assets finds listings by asset: (asset_id) to (kind, listing_id). template_id and schema_name (scalars) are set
-- only where a listing has exactly one asset.
--
-- Price of a sale: price is the amount in the settlement token where it is known for good: the final price of a sold
-- sale, the listing price of one that is listed in its settlement token. It is null while an oracle prices the sale;
-- then it is market.settlement_price(listing_price, rate) with the rate of market.rates for (listing_symbol,
-- settlement_symbol). The rate is one for all sales of a symbol pair and prices grow with listing_price, so a list
-- sorted by price merges two kinds of index order: (price) where it is not null, and (listing_price) for each pair
-- of market.rates where it is null. Nothing is rewritten when the oracle moves, so nothing lags.
--
-- Trades: a row of market.trades for each completed purchase, whatever its kind. Sales, buy offers and template buy
-- offers become trades with the block that closes them; an auction with the first block whose time has reached its
-- end. All statistics are sums over trades and are kept in the same transaction: trade_days, collection_stats,
-- account_stats, party_stats, schema_stats, template_points, and template_prices, which is made from template_points,
-- trades and open sales. Only the time ranges that clients ask for with before and after are summed when asked:
-- whole days from trade_days, the rest from trades. listing_counts counts listings by kind, stored state and collection.
--
-- Logs: market.logs says which action was done to which listing, when by its sequence. What the action said is on the
-- listing: lognew*: maker_marketplace, collection_fee (lognewauct: starting_price besides); logsalestart: offer_id;
-- purchasesale: taker_marketplace, intended_median; acceptbuyo, fulfilltbuyo: taker_marketplace; logroy*: the rows of
-- royalty_payouts with the same sequence. Block and transaction of logs, bids and payouts: market.origin_of(seq).

CREATE SCHEMA market;
COMMENT ON SCHEMA market IS 'Market: sales, auctions, buy offers, trades, prices, statistics, royalties';

CREATE TABLE market.config (
  contract text COLLATE "C" PRIMARY KEY,
  version text COLLATE "C" NOT NULL,
  v2_since_block integer,
  assets_contract text COLLATE "C" NOT NULL,
  oracle_contract text COLLATE "C" NOT NULL,
  sale_counter bigint NOT NULL,
  auction_counter bigint NOT NULL,
  minimum_bid_increase double precision NOT NULL,
  minimum_auction_duration bigint NOT NULL,
  maximum_auction_duration bigint NOT NULL,
  auction_reset_duration bigint NOT NULL,
  maker_market_fee double precision NOT NULL,
  taker_market_fee double precision NOT NULL
);
COMMENT ON TABLE market.config IS 'The contract''s own settings; one row';
COMMENT ON COLUMN market.config.contract IS 'Contract account';
COMMENT ON COLUMN market.config.version IS 'Version that the contract names';
COMMENT ON COLUMN market.config.v2_since_block IS 'Block in which version 2 or later was first seen; its rules hold for later blocks';
COMMENT ON COLUMN market.config.assets_contract IS 'NFT contract whose assets it trades';
COMMENT ON COLUMN market.config.oracle_contract IS 'Oracle contract that prices sales';
COMMENT ON COLUMN market.config.sale_counter IS 'Deprecated counter; 0 once market.counters has it';
COMMENT ON COLUMN market.config.auction_counter IS 'Deprecated counter; 0 once market.counters has it';
COMMENT ON COLUMN market.config.minimum_bid_increase IS 'Least share by which a bid must exceed the one before';
COMMENT ON COLUMN market.config.minimum_auction_duration IS 'Seconds';
COMMENT ON COLUMN market.config.maximum_auction_duration IS 'Seconds';
COMMENT ON COLUMN market.config.auction_reset_duration IS 'Seconds that an auction still runs after a bid, at least';
COMMENT ON COLUMN market.config.maker_market_fee IS 'Share of each trade that goes to the marketplace of the listing';
COMMENT ON COLUMN market.config.taker_market_fee IS 'Share of each trade that goes to the marketplace of the purchase';

CREATE TABLE market.counters (
  counter_name text COLLATE "C" PRIMARY KEY,
  counter_value numeric NOT NULL
);
COMMENT ON TABLE market.counters IS 'Next ids of the contract';
COMMENT ON COLUMN market.counters.counter_name IS 'sale, auction, buyoffer, tbuyoffer, bonusfee or attrroyalty';
COMMENT ON COLUMN market.counters.counter_value IS 'Next id';

CREATE TABLE market.tokens (
  token_symbol text COLLATE "C" PRIMARY KEY,
  place integer NOT NULL,
  token_precision integer NOT NULL,
  token_contract text COLLATE "C" NOT NULL
);
COMMENT ON TABLE market.tokens IS 'Tokens that can be paid with';
COMMENT ON COLUMN market.tokens.token_symbol IS 'Symbol code';
COMMENT ON COLUMN market.tokens.place IS 'Place in the contract''s list, from 0';
COMMENT ON COLUMN market.tokens.token_precision IS 'Decimal places';
COMMENT ON COLUMN market.tokens.token_contract IS 'Token contract account';

CREATE TABLE market.symbol_pairs (
  listing_symbol text COLLATE "C",
  settlement_symbol text COLLATE "C",
  place integer NOT NULL,
  listing_precision integer NOT NULL,
  settlement_precision integer NOT NULL,
  pair_name text COLLATE "C" NOT NULL,
  invert_pair boolean NOT NULL,
  PRIMARY KEY (listing_symbol, settlement_symbol)
);
COMMENT ON TABLE market.symbol_pairs IS 'Symbols that a sale can be listed in and settled in another token, by an oracle pair';
COMMENT ON COLUMN market.symbol_pairs.listing_symbol IS 'Symbol code of the listing price';
COMMENT ON COLUMN market.symbol_pairs.settlement_symbol IS 'Symbol code of the token that is paid';
COMMENT ON COLUMN market.symbol_pairs.place IS 'Place in the contract''s list, from 0';
COMMENT ON COLUMN market.symbol_pairs.listing_precision IS 'Decimal places of the listing price';
COMMENT ON COLUMN market.symbol_pairs.settlement_precision IS 'Decimal places of the token that is paid';
COMMENT ON COLUMN market.symbol_pairs.pair_name IS 'Pair of oracle.pairs';
COMMENT ON COLUMN market.symbol_pairs.invert_pair IS 'False: the price is divided by the median; true: multiplied';

CREATE TABLE market.marketplaces (
  marketplace_name text COLLATE "C" PRIMARY KEY,
  created_at_time bigint NOT NULL,
  created_at_block integer NOT NULL,
  creator text COLLATE "C" NOT NULL
);
COMMENT ON TABLE market.marketplaces IS 'Marketplaces';
COMMENT ON COLUMN market.marketplaces.marketplace_name IS 'Name, up to 13 characters; empty for the default one';
COMMENT ON COLUMN market.marketplaces.created_at_time IS 'Time when it was first seen, ms since 1970';
COMMENT ON COLUMN market.marketplaces.created_at_block IS 'Block in which it was first seen';
COMMENT ON COLUMN market.marketplaces.creator IS 'Account that gets its fees';

CREATE TABLE market.balances (
  owner text COLLATE "C",
  token_symbol text COLLATE "C",
  amount bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  updated_at_block integer NOT NULL,
  PRIMARY KEY (owner, token_symbol)
);
COMMENT ON TABLE market.balances IS 'Tokens that accounts have with the contract';
COMMENT ON COLUMN market.balances.owner IS 'Account';
COMMENT ON COLUMN market.balances.token_symbol IS 'Symbol code';
COMMENT ON COLUMN market.balances.amount IS 'Amount in units of the smallest decimal place';
COMMENT ON COLUMN market.balances.updated_at_time IS 'Time of the last change, ms since 1970';
COMMENT ON COLUMN market.balances.updated_at_block IS 'Block of the last change';

CREATE TABLE market.bonus_fees (
  bonusfee_id bigint PRIMARY KEY,
  created_at_time bigint NOT NULL,
  created_at_block integer NOT NULL,
  fee double precision NOT NULL,
  fee_recipient text COLLATE "C" NOT NULL,
  fee_name text COLLATE "C" NOT NULL
);
COMMENT ON TABLE market.bonus_fees IS 'Additional fees on ranges of listings';
COMMENT ON COLUMN market.bonus_fees.bonusfee_id IS 'Id';
COMMENT ON COLUMN market.bonus_fees.created_at_time IS 'Time when it was first seen, ms since 1970';
COMMENT ON COLUMN market.bonus_fees.created_at_block IS 'Block in which it was first seen';
COMMENT ON COLUMN market.bonus_fees.fee IS 'Share of each trade';
COMMENT ON COLUMN market.bonus_fees.fee_recipient IS 'Account that gets it';
COMMENT ON COLUMN market.bonus_fees.fee_name IS 'Name';

CREATE TABLE market.bonus_fee_ranges (
  bonusfee_id bigint,
  counter_name text COLLATE "C",
  start_id numeric NOT NULL,
  end_id numeric,
  PRIMARY KEY (bonusfee_id, counter_name)
);
COMMENT ON TABLE market.bonus_fee_ranges IS 'Listings that a bonus fee applies to: start_id <= id < end_id, for each counter';
COMMENT ON COLUMN market.bonus_fee_ranges.bonusfee_id IS 'Bonus fee';
COMMENT ON COLUMN market.bonus_fee_ranges.counter_name IS 'sale, auction, buyoffer or tbuyoffer';
COMMENT ON COLUMN market.bonus_fee_ranges.start_id IS 'First listing';
COMMENT ON COLUMN market.bonus_fee_ranges.end_id IS 'First listing that it does not apply to any more; null while it runs';

-- No update of a sale leaves all indexed columns as they were, so free space in its page is of no use to it.
CREATE TABLE market.sales (
  sale_id bigint PRIMARY KEY,
  created_at_time bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  listing_price bigint NOT NULL,
  price bigint,
  offer_id bigint,
  intended_median numeric,
  collection_fee double precision NOT NULL,
  created_at_block integer NOT NULL,
  updated_at_block integer NOT NULL,
  template_id integer,
  min_mint integer,
  max_mint integer,
  listing_precision smallint NOT NULL,
  settlement_precision smallint NOT NULL,
  state smallint NOT NULL,
  asset_count smallint NOT NULL,
  seller text COLLATE "C" NOT NULL,
  buyer text COLLATE "C",
  listing_symbol text COLLATE "C" NOT NULL,
  settlement_symbol text COLLATE "C" NOT NULL,
  collection_name text COLLATE "C" NOT NULL,
  schema_name text COLLATE "C",
  maker_marketplace text COLLATE "C" NOT NULL,
  taker_marketplace text COLLATE "C",
  name text COLLATE "C",
  asset_names text COLLATE "C",
  asset_ids bigint[] NOT NULL,
  template_ids integer[],
  schema_names text[] COLLATE "C",
  traits integer[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 100);
COMMENT ON TABLE market.sales IS 'Sales';
COMMENT ON COLUMN market.sales.sale_id IS 'Id, from 1';
COMMENT ON COLUMN market.sales.created_at_time IS 'Time of the announcement, ms since 1970';
COMMENT ON COLUMN market.sales.updated_at_time IS 'Time of the announcement, start, purchase or cancellation, ms since 1970';
COMMENT ON COLUMN market.sales.listing_price IS 'Asked amount in units of listing_symbol';
COMMENT ON COLUMN market.sales.price IS 'Amount in units of settlement_symbol: what was paid, or the listing price where no oracle is between; null while an oracle prices it';
COMMENT ON COLUMN market.sales.offer_id IS 'Offer of the assets contract that carries the assets; null while waiting';
COMMENT ON COLUMN market.sales.intended_median IS 'Median that the buyer named; null until bought';
COMMENT ON COLUMN market.sales.collection_fee IS 'Share of the collection at the time of the announcement';
COMMENT ON COLUMN market.sales.created_at_block IS 'Block of the announcement';
COMMENT ON COLUMN market.sales.updated_at_block IS 'Block of the announcement, start, purchase or cancellation';
COMMENT ON COLUMN market.sales.template_id IS 'Template of the asset when it is only one';
COMMENT ON COLUMN market.sales.min_mint IS 'Lowest template mint of the assets; null when none has one';
COMMENT ON COLUMN market.sales.max_mint IS 'Highest template mint of the assets; null when none has one';
COMMENT ON COLUMN market.sales.listing_precision IS 'Decimal places of listing_price';
COMMENT ON COLUMN market.sales.settlement_precision IS 'Decimal places of the settlement token, as the listing names it';
COMMENT ON COLUMN market.sales.state IS '0 waiting, 1 listed, 2 cancelled, 3 sold, 4 invalid';
COMMENT ON COLUMN market.sales.asset_count IS 'Number of assets';
COMMENT ON COLUMN market.sales.seller IS 'Account that sells';
COMMENT ON COLUMN market.sales.buyer IS 'Account that bought';
COMMENT ON COLUMN market.sales.listing_symbol IS 'Symbol code of the asked amount';
COMMENT ON COLUMN market.sales.settlement_symbol IS 'Symbol code of the token that is paid';
COMMENT ON COLUMN market.sales.collection_name IS 'Collection of the assets';
COMMENT ON COLUMN market.sales.schema_name IS 'Schema of the asset when it is only one';
COMMENT ON COLUMN market.sales.maker_marketplace IS 'Marketplace of the announcement';
COMMENT ON COLUMN market.sales.taker_marketplace IS 'Marketplace of the purchase';
COMMENT ON COLUMN market.sales.name IS 'Name of the first asset: attribute name of its merged data';
COMMENT ON COLUMN market.sales.asset_names IS 'Distinct names of the assets in order, joined by line feeds';
COMMENT ON COLUMN market.sales.asset_ids IS 'Assets in order';
COMMENT ON COLUMN market.sales.template_ids IS 'Templates of the assets, distinct and ascending; null for a single asset, whose template is template_id';
COMMENT ON COLUMN market.sales.schema_names IS 'Schemas of the assets, distinct and ascending; null for a single asset, whose schema is schema_name';
COMMENT ON COLUMN market.sales.traits IS 'market.asset_traits of the assets, distinct and ascending';

CREATE TABLE market.auctions (
  auction_id bigint PRIMARY KEY,
  created_at_time bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  end_time bigint NOT NULL,
  starting_price bigint,
  price bigint NOT NULL,
  collection_fee double precision NOT NULL,
  created_at_block integer NOT NULL,
  updated_at_block integer NOT NULL,
  template_id integer,
  min_mint integer,
  max_mint integer,
  state smallint NOT NULL,
  asset_count smallint NOT NULL,
  claimed_by_seller boolean NOT NULL,
  claimed_by_buyer boolean NOT NULL,
  seller text COLLATE "C" NOT NULL,
  buyer text COLLATE "C",
  token_symbol text COLLATE "C" NOT NULL,
  collection_name text COLLATE "C" NOT NULL,
  schema_name text COLLATE "C",
  maker_marketplace text COLLATE "C" NOT NULL,
  taker_marketplace text COLLATE "C",
  name text COLLATE "C",
  asset_names text COLLATE "C",
  asset_ids bigint[] NOT NULL,
  template_ids integer[],
  schema_names text[] COLLATE "C",
  traits integer[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 85);
COMMENT ON TABLE market.auctions IS 'Auctions';
COMMENT ON COLUMN market.auctions.auction_id IS 'Id, from 1';
COMMENT ON COLUMN market.auctions.created_at_time IS 'Time of the announcement, ms since 1970';
COMMENT ON COLUMN market.auctions.updated_at_time IS 'Time of the announcement, start, last bid, claims or cancellation, ms since 1970';
COMMENT ON COLUMN market.auctions.end_time IS 'End, seconds since 1970; late bids move it';
COMMENT ON COLUMN market.auctions.starting_price IS 'Least first bid in units of token_symbol';
COMMENT ON COLUMN market.auctions.price IS 'Highest bid, or the starting price before the first';
COMMENT ON COLUMN market.auctions.collection_fee IS 'Share of the collection at the time of the announcement';
COMMENT ON COLUMN market.auctions.created_at_block IS 'Block of the announcement';
COMMENT ON COLUMN market.auctions.updated_at_block IS 'Block of the announcement, start, last bid, claims or cancellation';
COMMENT ON COLUMN market.auctions.template_id IS 'Template of the asset when it is only one';
COMMENT ON COLUMN market.auctions.min_mint IS 'Lowest template mint of the assets; null when none has one';
COMMENT ON COLUMN market.auctions.max_mint IS 'Highest template mint of the assets; null when none has one';
COMMENT ON COLUMN market.auctions.state IS '0 waiting, 1 started, 2 cancelled; see market.auction_state';
COMMENT ON COLUMN market.auctions.asset_count IS 'Number of assets';
COMMENT ON COLUMN market.auctions.claimed_by_seller IS 'Whether the seller has taken the bid';
COMMENT ON COLUMN market.auctions.claimed_by_buyer IS 'Whether the highest bidder has taken the assets';
COMMENT ON COLUMN market.auctions.seller IS 'Account that sells';
COMMENT ON COLUMN market.auctions.buyer IS 'Highest bidder; null before the first bid';
COMMENT ON COLUMN market.auctions.token_symbol IS 'Symbol code of the bids';
COMMENT ON COLUMN market.auctions.collection_name IS 'Collection of the assets';
COMMENT ON COLUMN market.auctions.schema_name IS 'Schema of the asset when it is only one';
COMMENT ON COLUMN market.auctions.maker_marketplace IS 'Marketplace of the announcement';
COMMENT ON COLUMN market.auctions.taker_marketplace IS 'Marketplace of the highest bid';
COMMENT ON COLUMN market.auctions.name IS 'Name of the first asset: attribute name of its merged data';
COMMENT ON COLUMN market.auctions.asset_names IS 'Distinct names of the assets in order, joined by line feeds';
COMMENT ON COLUMN market.auctions.asset_ids IS 'Assets in order';
COMMENT ON COLUMN market.auctions.template_ids IS 'Templates of the assets, distinct and ascending; null for a single asset, whose template is template_id';
COMMENT ON COLUMN market.auctions.schema_names IS 'Schemas of the assets, distinct and ascending; null for a single asset, whose schema is schema_name';
COMMENT ON COLUMN market.auctions.traits IS 'market.asset_traits of the assets, distinct and ascending';

-- A bundle that an auction contract of version 2 finds without a claim is refunded, so it is not sold.
CREATE FUNCTION market.auction_state(
  state smallint, end_time bigint, buyer text, asset_count smallint, claimed boolean, now_ms bigint, is_v2 boolean
) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN state <> 1 THEN state
    WHEN end_time * 1000 > now_ms THEN 1::smallint
    WHEN buyer IS NULL OR (is_v2 AND asset_count > 1 AND NOT claimed) THEN 4::smallint
    ELSE 3::smallint END
$$;
COMMENT ON FUNCTION market.auction_state IS 'State of an auction as clients know it at a time (ms since 1970): 0 waiting, 1 listed, 2 cancelled, 3 sold, 4 invalid; claimed is claimed_by_seller OR claimed_by_buyer, is_v2 whether market.config has v2_since_block';

CREATE TABLE market.bids (
  seq bigint NOT NULL,
  auction_id bigint NOT NULL,
  amount bigint NOT NULL,
  account text COLLATE "C" NOT NULL
) PARTITION BY RANGE (seq);
COMMENT ON TABLE market.bids IS 'Bids on auctions; the number of a bid is its rank by seq within its auction, from 1';
COMMENT ON COLUMN market.bids.seq IS 'Global sequence of the auctionbid action';
COMMENT ON COLUMN market.bids.auction_id IS 'Auction';
COMMENT ON COLUMN market.bids.amount IS 'Amount in units of the auction''s token';
COMMENT ON COLUMN market.bids.account IS 'Bidder';

CREATE TABLE market.buyoffers (
  buyoffer_id bigint PRIMARY KEY,
  created_at_time bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  price bigint NOT NULL,
  collection_fee double precision NOT NULL,
  created_at_block integer NOT NULL,
  updated_at_block integer NOT NULL,
  template_id integer,
  min_mint integer,
  max_mint integer,
  state smallint NOT NULL,
  asset_count smallint NOT NULL,
  seller text COLLATE "C" NOT NULL,
  buyer text COLLATE "C" NOT NULL,
  token_symbol text COLLATE "C" NOT NULL,
  collection_name text COLLATE "C" NOT NULL,
  schema_name text COLLATE "C",
  maker_marketplace text COLLATE "C" NOT NULL,
  taker_marketplace text COLLATE "C",
  memo text COLLATE "C" NOT NULL,
  decline_memo text COLLATE "C",
  name text COLLATE "C",
  asset_names text COLLATE "C",
  asset_ids bigint[] NOT NULL,
  template_ids integer[],
  schema_names text[] COLLATE "C",
  traits integer[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 85);
COMMENT ON TABLE market.buyoffers IS 'Offers to buy certain assets of a certain account';
COMMENT ON COLUMN market.buyoffers.buyoffer_id IS 'Id, from 1';
COMMENT ON COLUMN market.buyoffers.created_at_time IS 'Time of the offer, ms since 1970';
COMMENT ON COLUMN market.buyoffers.updated_at_time IS 'Time of the offer or its closing, ms since 1970';
COMMENT ON COLUMN market.buyoffers.price IS 'Amount in units of token_symbol';
COMMENT ON COLUMN market.buyoffers.collection_fee IS 'Share of the collection at the time of the offer';
COMMENT ON COLUMN market.buyoffers.created_at_block IS 'Block of the offer';
COMMENT ON COLUMN market.buyoffers.updated_at_block IS 'Block of the offer or its closing';
COMMENT ON COLUMN market.buyoffers.template_id IS 'Template of the asset when it is only one';
COMMENT ON COLUMN market.buyoffers.min_mint IS 'Lowest template mint of the assets; null when none has one';
COMMENT ON COLUMN market.buyoffers.max_mint IS 'Highest template mint of the assets; null when none has one';
COMMENT ON COLUMN market.buyoffers.state IS '0 pending, 1 declined, 2 cancelled, 3 accepted, 4 invalid';
COMMENT ON COLUMN market.buyoffers.asset_count IS 'Number of assets';
COMMENT ON COLUMN market.buyoffers.seller IS 'Account that the offer is made to';
COMMENT ON COLUMN market.buyoffers.buyer IS 'Account that made it';
COMMENT ON COLUMN market.buyoffers.token_symbol IS 'Symbol code of the price';
COMMENT ON COLUMN market.buyoffers.collection_name IS 'Collection of the assets';
COMMENT ON COLUMN market.buyoffers.schema_name IS 'Schema of the asset when it is only one';
COMMENT ON COLUMN market.buyoffers.maker_marketplace IS 'Marketplace of the offer';
COMMENT ON COLUMN market.buyoffers.taker_marketplace IS 'Marketplace of the acceptance';
COMMENT ON COLUMN market.buyoffers.memo IS 'Memo of the buyer';
COMMENT ON COLUMN market.buyoffers.decline_memo IS 'Memo of the account that declined; null unless declined';
COMMENT ON COLUMN market.buyoffers.name IS 'Name of the first asset: attribute name of its merged data';
COMMENT ON COLUMN market.buyoffers.asset_names IS 'Distinct names of the assets in order, joined by line feeds';
COMMENT ON COLUMN market.buyoffers.asset_ids IS 'Assets in order';
COMMENT ON COLUMN market.buyoffers.template_ids IS 'Templates of the assets, distinct and ascending; null for a single asset, whose template is template_id';
COMMENT ON COLUMN market.buyoffers.schema_names IS 'Schemas of the assets, distinct and ascending; null for a single asset, whose schema is schema_name';
COMMENT ON COLUMN market.buyoffers.traits IS 'market.asset_traits of the assets, distinct and ascending';

CREATE TABLE market.template_buyoffers (
  buyoffer_id bigint PRIMARY KEY,
  created_at_time bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  price bigint NOT NULL,
  asset_id bigint,
  collection_fee double precision NOT NULL,
  created_at_block integer NOT NULL,
  updated_at_block integer NOT NULL,
  template_id integer NOT NULL,
  mint integer,
  state smallint NOT NULL,
  seller text COLLATE "C",
  buyer text COLLATE "C" NOT NULL,
  token_symbol text COLLATE "C" NOT NULL,
  collection_name text COLLATE "C" NOT NULL,
  schema_name text COLLATE "C",
  maker_marketplace text COLLATE "C" NOT NULL,
  taker_marketplace text COLLATE "C",
  name text COLLATE "C",
  traits integer[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 85);
COMMENT ON TABLE market.template_buyoffers IS 'Offers to buy any asset of a template';
COMMENT ON COLUMN market.template_buyoffers.buyoffer_id IS 'Id, from 1; numbered apart from buy offers';
COMMENT ON COLUMN market.template_buyoffers.created_at_time IS 'Time of the offer, ms since 1970';
COMMENT ON COLUMN market.template_buyoffers.updated_at_time IS 'Time of the offer or its closing, ms since 1970';
COMMENT ON COLUMN market.template_buyoffers.price IS 'Amount in units of token_symbol';
COMMENT ON COLUMN market.template_buyoffers.asset_id IS 'Asset that was given; null until sold';
COMMENT ON COLUMN market.template_buyoffers.collection_fee IS 'Share of the collection at the time of the offer';
COMMENT ON COLUMN market.template_buyoffers.created_at_block IS 'Block of the offer';
COMMENT ON COLUMN market.template_buyoffers.updated_at_block IS 'Block of the offer or its closing';
COMMENT ON COLUMN market.template_buyoffers.template_id IS 'Template asked for';
COMMENT ON COLUMN market.template_buyoffers.mint IS 'Template mint of the asset that was given';
COMMENT ON COLUMN market.template_buyoffers.state IS '0 listed, 1 cancelled, 2 sold';
COMMENT ON COLUMN market.template_buyoffers.seller IS 'Account that gave the asset; null until sold';
COMMENT ON COLUMN market.template_buyoffers.buyer IS 'Account that made the offer';
COMMENT ON COLUMN market.template_buyoffers.token_symbol IS 'Symbol code of the price';
COMMENT ON COLUMN market.template_buyoffers.collection_name IS 'Collection of the template';
COMMENT ON COLUMN market.template_buyoffers.schema_name IS 'Schema of the template; null when the template is not known';
COMMENT ON COLUMN market.template_buyoffers.maker_marketplace IS 'Marketplace of the offer';
COMMENT ON COLUMN market.template_buyoffers.taker_marketplace IS 'Marketplace of the sale';
COMMENT ON COLUMN market.template_buyoffers.name IS 'Name of the asset that was given, else of the template';
COMMENT ON COLUMN market.template_buyoffers.traits IS 'market.asset_traits of the asset that was given; empty until sold';

CREATE TABLE market.listing_assets (
  asset_id bigint,
  kind smallint,
  listing_id bigint,
  PRIMARY KEY (asset_id, kind, listing_id)
);
COMMENT ON TABLE market.listing_assets IS 'Listings by asset, whatever their state; template buy offers from the moment that an asset was given';
COMMENT ON COLUMN market.listing_assets.asset_id IS 'Asset';
COMMENT ON COLUMN market.listing_assets.kind IS '1 sale, 2 auction, 3 buy offer, 4 template buy offer';
COMMENT ON COLUMN market.listing_assets.listing_id IS 'Id of the listing';

CREATE TABLE market.listing_counts (
  kind smallint,
  state smallint,
  collection_name text COLLATE "C",
  listings bigint NOT NULL,
  PRIMARY KEY (kind, state, collection_name)
);
COMMENT ON TABLE market.listing_counts IS 'How many listings there are; combinations without any have no row';
COMMENT ON COLUMN market.listing_counts.kind IS '1 sale, 2 auction, 3 buy offer, 4 template buy offer';
COMMENT ON COLUMN market.listing_counts.state IS 'State as stored with the listing: what the clock makes of started auctions is not in it';
COMMENT ON COLUMN market.listing_counts.collection_name IS 'Collection';
COMMENT ON COLUMN market.listing_counts.listings IS 'Number of listings';

CREATE TABLE market.trades (
  kind smallint,
  listing_id bigint,
  trade_time bigint NOT NULL,
  price bigint NOT NULL,
  asset_id bigint,
  template_id integer,
  template_mint integer,
  asset_count smallint NOT NULL,
  token_symbol text COLLATE "C" NOT NULL,
  seller text COLLATE "C" NOT NULL,
  buyer text COLLATE "C" NOT NULL,
  maker_marketplace text COLLATE "C" NOT NULL,
  taker_marketplace text COLLATE "C" NOT NULL,
  collection_name text COLLATE "C" NOT NULL,
  schema_name text COLLATE "C",
  asset_burned boolean,
  PRIMARY KEY (kind, listing_id)
);
COMMENT ON TABLE market.trades IS 'Completed purchases of every kind';
COMMENT ON COLUMN market.trades.kind IS '1 sale, 2 auction, 3 buy offer, 4 template buy offer';
COMMENT ON COLUMN market.trades.listing_id IS 'Id of the listing';
COMMENT ON COLUMN market.trades.trade_time IS 'Time of the purchase, acceptance or end of the auction, ms since 1970';
COMMENT ON COLUMN market.trades.price IS 'Amount that was paid, in units of token_symbol';
COMMENT ON COLUMN market.trades.asset_id IS 'Asset; null for a bundle';
COMMENT ON COLUMN market.trades.template_id IS 'Template of the asset; null for a bundle or without template';
COMMENT ON COLUMN market.trades.template_mint IS 'Template mint of the asset; null for a bundle or without template';
COMMENT ON COLUMN market.trades.asset_count IS 'Number of assets';
COMMENT ON COLUMN market.trades.token_symbol IS 'Symbol code of the token that was paid';
COMMENT ON COLUMN market.trades.seller IS 'Account that sold';
COMMENT ON COLUMN market.trades.buyer IS 'Account that bought';
COMMENT ON COLUMN market.trades.maker_marketplace IS 'Marketplace of the listing';
COMMENT ON COLUMN market.trades.taker_marketplace IS 'Marketplace of the purchase';
COMMENT ON COLUMN market.trades.collection_name IS 'Collection of the assets';
COMMENT ON COLUMN market.trades.schema_name IS 'Schema of the asset; null for a bundle';
COMMENT ON COLUMN market.trades.asset_burned IS 'Whether the single asset is burned; null for bundles and assets that are not known';

CREATE TABLE market.trade_days (
  token_symbol text COLLATE "C",
  day integer,
  collection_name text COLLATE "C",
  maker_marketplace text COLLATE "C",
  taker_marketplace text COLLATE "C",
  trades bigint NOT NULL,
  volume numeric NOT NULL,
  sales bigint NOT NULL,
  sale_volume numeric NOT NULL,
  PRIMARY KEY (token_symbol, day, collection_name, maker_marketplace, taker_marketplace)
);
COMMENT ON TABLE market.trade_days IS 'Trades by UTC day, collection and marketplaces, bundles included; the highest price of a day is read from trades';
COMMENT ON COLUMN market.trade_days.token_symbol IS 'Symbol code of the token that was paid';
COMMENT ON COLUMN market.trade_days.day IS 'Days since 1970-01-01 UTC: floor(trade_time / 86400000)';
COMMENT ON COLUMN market.trade_days.collection_name IS 'Collection';
COMMENT ON COLUMN market.trade_days.maker_marketplace IS 'Marketplace of the listings';
COMMENT ON COLUMN market.trade_days.taker_marketplace IS 'Marketplace of the purchases';
COMMENT ON COLUMN market.trade_days.trades IS 'Number of trades of every kind';
COMMENT ON COLUMN market.trade_days.volume IS 'Sum of their prices';
COMMENT ON COLUMN market.trade_days.sales IS 'Number of trades that were sales';
COMMENT ON COLUMN market.trade_days.sale_volume IS 'Sum of the prices of these';

CREATE TABLE market.collection_stats (
  token_symbol text COLLATE "C",
  collection_name text COLLATE "C",
  trades bigint NOT NULL,
  volume numeric NOT NULL,
  sales bigint NOT NULL,
  sale_volume numeric NOT NULL,
  PRIMARY KEY (token_symbol, collection_name)
);
COMMENT ON TABLE market.collection_stats IS 'Trades by collection, of all time, bundles included';
COMMENT ON COLUMN market.collection_stats.token_symbol IS 'Symbol code of the token that was paid';
COMMENT ON COLUMN market.collection_stats.collection_name IS 'Collection';
COMMENT ON COLUMN market.collection_stats.trades IS 'Number of trades of every kind';
COMMENT ON COLUMN market.collection_stats.volume IS 'Sum of their prices';
COMMENT ON COLUMN market.collection_stats.sales IS 'Number of trades that were sales';
COMMENT ON COLUMN market.collection_stats.sale_volume IS 'Sum of the prices of these';

CREATE TABLE market.schema_stats (
  token_symbol text COLLATE "C",
  collection_name text COLLATE "C",
  schema_name text COLLATE "C",
  trades bigint NOT NULL,
  volume numeric NOT NULL,
  sales bigint NOT NULL,
  sale_volume numeric NOT NULL,
  listings bigint NOT NULL,
  PRIMARY KEY (token_symbol, collection_name, schema_name)
);
COMMENT ON TABLE market.schema_stats IS 'Trades and open sales by schema, of all time';
COMMENT ON COLUMN market.schema_stats.token_symbol IS 'Symbol code of the token that was or is to be paid';
COMMENT ON COLUMN market.schema_stats.collection_name IS 'Collection';
COMMENT ON COLUMN market.schema_stats.schema_name IS 'Schema';
COMMENT ON COLUMN market.schema_stats.trades IS 'Number of trades of every kind of a single asset with a template';
COMMENT ON COLUMN market.schema_stats.volume IS 'Sum of their prices';
COMMENT ON COLUMN market.schema_stats.sales IS 'Number of sold sales with an asset of the schema; a bundle counts once';
COMMENT ON COLUMN market.schema_stats.sale_volume IS 'Sum of their prices';
COMMENT ON COLUMN market.schema_stats.listings IS 'Number of listed and invalid sales with an asset of the schema; a bundle counts once';

CREATE TABLE market.account_stats (
  token_symbol text COLLATE "C",
  account text COLLATE "C",
  sells bigint NOT NULL,
  sell_volume numeric NOT NULL,
  buys bigint NOT NULL,
  buy_volume numeric NOT NULL,
  PRIMARY KEY (token_symbol, account)
);
COMMENT ON TABLE market.account_stats IS 'What accounts sold and bought, of all time, bundles included';
COMMENT ON COLUMN market.account_stats.token_symbol IS 'Symbol code of the token that was paid';
COMMENT ON COLUMN market.account_stats.account IS 'Account';
COMMENT ON COLUMN market.account_stats.sells IS 'Number of trades in which it sold';
COMMENT ON COLUMN market.account_stats.sell_volume IS 'Sum of their prices';
COMMENT ON COLUMN market.account_stats.buys IS 'Number of trades in which it bought';
COMMENT ON COLUMN market.account_stats.buy_volume IS 'Sum of their prices';

CREATE TABLE market.party_stats (
  token_symbol text COLLATE "C",
  marketplace text COLLATE "C",
  account text COLLATE "C",
  collection_name text COLLATE "C",
  sells bigint NOT NULL,
  sell_volume numeric NOT NULL,
  buys bigint NOT NULL,
  buy_volume numeric NOT NULL,
  PRIMARY KEY (token_symbol, marketplace, account, collection_name)
);
COMMENT ON TABLE market.party_stats IS 'What accounts sold and bought by marketplace and collection, of all time: sellers through the marketplace of the listing, buyers through that of the purchase';
COMMENT ON COLUMN market.party_stats.token_symbol IS 'Symbol code of the token that was paid';
COMMENT ON COLUMN market.party_stats.marketplace IS 'Marketplace';
COMMENT ON COLUMN market.party_stats.account IS 'Account';
COMMENT ON COLUMN market.party_stats.collection_name IS 'Collection';
COMMENT ON COLUMN market.party_stats.sells IS 'Number of trades in which the account sold and the marketplace was that of the listing';
COMMENT ON COLUMN market.party_stats.sell_volume IS 'Sum of their prices';
COMMENT ON COLUMN market.party_stats.buys IS 'Number of trades in which the account bought and the marketplace was that of the purchase';
COMMENT ON COLUMN market.party_stats.buy_volume IS 'Sum of their prices';

CREATE TABLE market.template_points (
  template_id integer,
  token_symbol text COLLATE "C",
  price bigint,
  trades bigint NOT NULL,
  PRIMARY KEY (template_id, token_symbol, price)
);
COMMENT ON TABLE market.template_points IS 'How often a single asset of a template was traded at a price, of all time';
COMMENT ON COLUMN market.template_points.template_id IS 'Template';
COMMENT ON COLUMN market.template_points.token_symbol IS 'Symbol code of the token that was paid';
COMMENT ON COLUMN market.template_points.price IS 'Price';
COMMENT ON COLUMN market.template_points.trades IS 'Number of trades at this price';

CREATE TABLE market.template_prices (
  template_id integer,
  token_symbol text COLLATE "C",
  trades bigint NOT NULL,
  volume numeric NOT NULL,
  median bigint NOT NULL,
  average bigint NOT NULL,
  min bigint NOT NULL,
  max bigint NOT NULL,
  recent_median bigint NOT NULL,
  recent_average bigint NOT NULL,
  floor_price bigint,
  suggested_median bigint NOT NULL,
  suggested_average bigint NOT NULL,
  collection_name text COLLATE "C" NOT NULL,
  oracle_floors jsonb,
  PRIMARY KEY (template_id, token_symbol)
);
COMMENT ON TABLE market.template_prices IS 'Prices of templates by token, from trades of single assets';
COMMENT ON COLUMN market.template_prices.template_id IS 'Template';
COMMENT ON COLUMN market.template_prices.token_symbol IS 'Symbol code of the token';
COMMENT ON COLUMN market.template_prices.trades IS 'Number of trades of all time';
COMMENT ON COLUMN market.template_prices.volume IS 'Sum of their prices';
COMMENT ON COLUMN market.template_prices.median IS 'Median of their prices, the lower of the two in the middle';
COMMENT ON COLUMN market.template_prices.average IS 'Average of their prices, rounded';
COMMENT ON COLUMN market.template_prices.min IS 'Lowest price';
COMMENT ON COLUMN market.template_prices.max IS 'Highest price';
COMMENT ON COLUMN market.template_prices.recent_median IS 'Median of the trades of the 3 days before the last block and the 5 latest ones';
COMMENT ON COLUMN market.template_prices.recent_average IS 'Average of the same, rounded';
COMMENT ON COLUMN market.template_prices.floor_price IS 'Lowest price of the listed sales of a single asset that settle in the token without an oracle, are 3 days old or older at the last block, and whose seller is not a contract; null when there is none';
COMMENT ON COLUMN market.template_prices.suggested_median IS 'recent_median, at most floor_price; for display see market.capped';
COMMENT ON COLUMN market.template_prices.suggested_average IS 'recent_average, at most floor_price; for display see market.capped';
COMMENT ON COLUMN market.template_prices.collection_name IS 'Collection of the template';
COMMENT ON COLUMN market.template_prices.oracle_floors IS 'As floor_price for sales that an oracle prices: listing symbol to lowest listing price as decimal text; null when there is none';

-- Template immutable data go before asset immutable, asset mutable and template mutable data.
CREATE FUNCTION market.asset_name(
  template_immutable jsonb, asset_immutable jsonb, asset_mutable jsonb, template_mutable jsonb
) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN template_immutable ? 'name' THEN template_immutable
    WHEN asset_immutable ? 'name' THEN asset_immutable
    WHEN asset_mutable ? 'name' THEN asset_mutable
    ELSE template_mutable END ->> 'name'
$$;
COMMENT ON FUNCTION market.asset_name IS 'Attribute name of the merged data of an asset';

CREATE VIEW market.rates AS
  SELECT s.listing_symbol, s.settlement_symbol, p.median, p.median_precision, s.pair_name, s.invert_pair,
    CASE WHEN p.median > 0 AND p.median_precision <= 40 THEN
      CASE WHEN s.invert_pair
        THEN p.median * power(10::numeric, p.quote_precision - p.base_precision - p.median_precision)
        ELSE power(10::numeric, p.median_precision + p.base_precision - p.quote_precision) END END AS factor,
    CASE WHEN s.invert_pair THEN 1 ELSE p.median END::numeric AS divisor
  FROM market.symbol_pairs s JOIN oracle.pairs p USING (pair_name);
COMMENT ON VIEW market.rates IS 'What an oracle makes of listing prices now: settlement price = listing price * factor / divisor';
COMMENT ON COLUMN market.rates.listing_symbol IS 'Symbol code of the listing price';
COMMENT ON COLUMN market.rates.settlement_symbol IS 'Symbol code of the token that is paid';
COMMENT ON COLUMN market.rates.median IS 'Newest median of the oracle pair; null before the first data point';
COMMENT ON COLUMN market.rates.median_precision IS 'Decimal places of the median';
COMMENT ON COLUMN market.rates.pair_name IS 'Oracle pair';
COMMENT ON COLUMN market.rates.invert_pair IS 'False: the price is divided by the median; true: multiplied';
COMMENT ON COLUMN market.rates.factor IS 'Factor; null while the median is null or 0, which gives no price';
COMMENT ON COLUMN market.rates.divisor IS 'Divisor';

CREATE FUNCTION market.settlement_price(listing_price bigint, factor numeric, divisor numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT least(div(listing_price * factor, divisor), 9223372036854775807)::bigint
$$;
COMMENT ON FUNCTION market.settlement_price IS 'Price in the settlement token of a sale that an oracle prices, rounded down, at most 2^63 - 1; factor and divisor from market.rates';

CREATE FUNCTION market.capped(suggested bigint, token text, oracle_floors jsonb) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN oracle_floors IS NULL THEN suggested ELSE least(suggested, (
    SELECT min(market.settlement_price(f.value::bigint, r.factor, r.divisor))
    FROM jsonb_each_text(oracle_floors) f JOIN market.rates r ON r.listing_symbol = f.key AND r.settlement_symbol = token
  )) END
$$;
COMMENT ON FUNCTION market.capped IS 'A suggested price of market.template_prices with the sales that an oracle prices taken into account, at its newest median';

CREATE TABLE market.royalty_configs (
  collection_name text COLLATE "C" PRIMARY KEY,
  created_at_time bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  split_founders bigint NOT NULL,
  split_templates bigint NOT NULL,
  split_attributes bigint NOT NULL,
  created_at_block integer NOT NULL,
  updated_at_block integer NOT NULL,
  attribute_mode smallint NOT NULL,
  founders jsonb NOT NULL
);
COMMENT ON TABLE market.royalty_configs IS 'How collections split their fee (contract v2)';
COMMENT ON COLUMN market.royalty_configs.collection_name IS 'Collection';
COMMENT ON COLUMN market.royalty_configs.created_at_time IS 'Time when it was first set, ms since 1970';
COMMENT ON COLUMN market.royalty_configs.updated_at_time IS 'Time when it was last set, ms since 1970';
COMMENT ON COLUMN market.royalty_configs.split_founders IS 'Weight of the founders';
COMMENT ON COLUMN market.royalty_configs.split_templates IS 'Weight of the template rules';
COMMENT ON COLUMN market.royalty_configs.split_attributes IS 'Weight of the attribute rules';
COMMENT ON COLUMN market.royalty_configs.created_at_block IS 'Block in which it was first set';
COMMENT ON COLUMN market.royalty_configs.updated_at_block IS 'Block in which it was last set';
COMMENT ON COLUMN market.royalty_configs.attribute_mode IS '0 merged data, 1 each source by itself';
COMMENT ON COLUMN market.royalty_configs.founders IS 'Founders: [{recipient, weight}]';

CREATE TABLE market.royalty_templates (
  collection_name text COLLATE "C",
  template_id integer,
  created_at_time bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  created_at_block integer NOT NULL,
  updated_at_block integer NOT NULL,
  recipients jsonb NOT NULL,
  PRIMARY KEY (collection_name, template_id)
);
COMMENT ON TABLE market.royalty_templates IS 'Royalty rules by template (contract v2)';
COMMENT ON COLUMN market.royalty_templates.collection_name IS 'Collection';
COMMENT ON COLUMN market.royalty_templates.template_id IS 'Template';
COMMENT ON COLUMN market.royalty_templates.created_at_time IS 'Time when it was first set, ms since 1970';
COMMENT ON COLUMN market.royalty_templates.updated_at_time IS 'Time when it was last set, ms since 1970';
COMMENT ON COLUMN market.royalty_templates.created_at_block IS 'Block in which it was first set';
COMMENT ON COLUMN market.royalty_templates.updated_at_block IS 'Block in which it was last set';
COMMENT ON COLUMN market.royalty_templates.recipients IS 'Recipients: [{recipient, weight}]';

CREATE TABLE market.royalty_attributes (
  collection_name text COLLATE "C",
  rule_id bigint,
  created_at_time bigint NOT NULL,
  updated_at_time bigint NOT NULL,
  weight bigint NOT NULL,
  created_at_block integer NOT NULL,
  updated_at_block integer NOT NULL,
  source smallint NOT NULL,
  field text COLLATE "C" NOT NULL,
  value jsonb NOT NULL,
  recipients jsonb NOT NULL,
  lookup_hash bytea NOT NULL,
  PRIMARY KEY (collection_name, rule_id)
);
COMMENT ON TABLE market.royalty_attributes IS 'Royalty rules by attribute (contract v2)';
COMMENT ON COLUMN market.royalty_attributes.collection_name IS 'Collection';
COMMENT ON COLUMN market.royalty_attributes.rule_id IS 'Rule, never used twice';
COMMENT ON COLUMN market.royalty_attributes.created_at_time IS 'Time when it was first set, ms since 1970';
COMMENT ON COLUMN market.royalty_attributes.updated_at_time IS 'Time when it was last set, ms since 1970';
COMMENT ON COLUMN market.royalty_attributes.weight IS 'Weight of the rule';
COMMENT ON COLUMN market.royalty_attributes.created_at_block IS 'Block in which it was first set';
COMMENT ON COLUMN market.royalty_attributes.updated_at_block IS 'Block in which it was last set';
COMMENT ON COLUMN market.royalty_attributes.source IS 'Where the field is looked up: 0 merged, 1 asset immutable, 2 asset mutable, 3 template immutable, 4 template mutable';
COMMENT ON COLUMN market.royalty_attributes.field IS 'Attribute';
COMMENT ON COLUMN market.royalty_attributes.value IS 'Its value: [type, value], 64-bit integers as decimal text';
COMMENT ON COLUMN market.royalty_attributes.recipients IS 'Recipients: [{recipient, weight}]';
COMMENT ON COLUMN market.royalty_attributes.lookup_hash IS 'Hash by which the contract finds the rule, 32 bytes';

CREATE TABLE market.royalty_payouts (
  seq bigint NOT NULL,
  payout_index smallint NOT NULL,
  category smallint NOT NULL,
  kind smallint NOT NULL,
  template_id integer,
  listing_id bigint,
  asset_id bigint,
  rule_id bigint,
  amount bigint NOT NULL,
  paid_at_time bigint NOT NULL,
  token_symbol text COLLATE "C" NOT NULL,
  collection_name text COLLATE "C" NOT NULL,
  recipient text COLLATE "C" NOT NULL,
  PRIMARY KEY (seq, payout_index)
) PARTITION BY RANGE (seq);
COMMENT ON TABLE market.royalty_payouts IS 'What settlements paid to the recipients of a collection''s fee (contract v2)';
COMMENT ON COLUMN market.royalty_payouts.seq IS 'Global sequence of the log action';
COMMENT ON COLUMN market.royalty_payouts.payout_index IS 'Place in the action''s list, from 0';
COMMENT ON COLUMN market.royalty_payouts.category IS '1 founders, 2 template, 3 attribute, 4 dust';
COMMENT ON COLUMN market.royalty_payouts.kind IS 'Listing that was settled: 1 sale, 2 auction, 3 buy offer, 4 template buy offer, 0 when no settling action was found';
COMMENT ON COLUMN market.royalty_payouts.template_id IS 'Template of the rule';
COMMENT ON COLUMN market.royalty_payouts.listing_id IS 'Its id; null when none was found';
COMMENT ON COLUMN market.royalty_payouts.asset_id IS 'Asset that was sold; null for dust';
COMMENT ON COLUMN market.royalty_payouts.rule_id IS 'Attribute rule';
COMMENT ON COLUMN market.royalty_payouts.amount IS 'Amount in units of token_symbol';
COMMENT ON COLUMN market.royalty_payouts.paid_at_time IS 'Time of the block, ms since 1970';
COMMENT ON COLUMN market.royalty_payouts.token_symbol IS 'Symbol code';
COMMENT ON COLUMN market.royalty_payouts.collection_name IS 'Collection';
COMMENT ON COLUMN market.royalty_payouts.recipient IS 'Account that was paid';

CREATE TABLE market.blocks (
  first_seq bigint PRIMARY KEY,
  block_time bigint NOT NULL,
  block_num integer NOT NULL,
  tx_offsets integer[] NOT NULL,
  txids bytea NOT NULL
) PARTITION BY RANGE (first_seq);
COMMENT ON TABLE market.blocks IS 'Blocks with a log, bid or payout of the market, and their transactions; read by origin_of';
COMMENT ON COLUMN market.blocks.first_seq IS 'Lowest global sequence of the kept events';
COMMENT ON COLUMN market.blocks.block_time IS 'Time of the block, ms since 1970';
COMMENT ON COLUMN market.blocks.block_num IS 'Block';
COMMENT ON COLUMN market.blocks.tx_offsets IS 'For each transaction with a kept event, in order: its first kept sequence, counted from first_seq';
COMMENT ON COLUMN market.blocks.txids IS 'Their ids, 32 bytes each, in the same order';

CREATE FUNCTION market.origin_of(seq bigint) RETURNS TABLE (block_num integer, block_time bigint, txid bytea)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $$
  SELECT b.block_num, b.block_time, substr(b.txids, 32 * width_bucket((seq - b.first_seq)::integer, b.tx_offsets) - 31, 32)
  FROM market.blocks b WHERE b.first_seq <= seq ORDER BY b.first_seq DESC LIMIT 1
$$;
COMMENT ON FUNCTION market.origin_of IS 'Block and transaction of a log, bid or payout of the market, by its global sequence';

CREATE TABLE market.log_actions (
  action smallint PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  kind smallint NOT NULL,
  UNIQUE (name, kind)
);
COMMENT ON TABLE market.log_actions IS 'Actions that are logged';
COMMENT ON COLUMN market.log_actions.action IS 'Code used in logs';
COMMENT ON COLUMN market.log_actions.name IS 'Action name';
COMMENT ON COLUMN market.log_actions.kind IS 'What the subject of such a log is: 1 sale, 2 auction, 3 buy offer, 4 template buy offer, 0 the contract itself';
INSERT INTO market.log_actions (action, name, kind) VALUES
  (1, 'lognewsale', 1), (2, 'logsalestart', 1), (3, 'cancelsale', 1), (4, 'purchasesale', 1),
  (20, 'lognewauct', 2), (21, 'logauctstart', 2), (22, 'cancelauct', 2), (23, 'auctclaimbuy', 2), (24, 'auctclaimsel', 2),
  (40, 'lognewbuyo', 3), (41, 'cancelbuyo', 3), (42, 'declinebuyo', 3), (43, 'acceptbuyo', 3),
  (60, 'lognewtbuyo', 4), (61, 'canceltbuyo', 4), (62, 'fulfilltbuyo', 4),
  (10, 'logroyfound', 1), (11, 'logroytempl', 1), (12, 'logroyattr', 1), (13, 'logroydust', 1),
  (30, 'logroyfound', 2), (31, 'logroytempl', 2), (32, 'logroyattr', 2), (33, 'logroydust', 2),
  (50, 'logroyfound', 3), (51, 'logroytempl', 3), (52, 'logroyattr', 3), (53, 'logroydust', 3),
  (70, 'logroyfound', 4), (71, 'logroytempl', 4), (72, 'logroyattr', 4), (73, 'logroydust', 4),
  (80, 'setdefmktcr', 0), (81, 'migratebal', 0);

CREATE TABLE market.logs (
  seq bigint NOT NULL,
  subject bigint NOT NULL,
  action smallint NOT NULL,
  data jsonb
) PARTITION BY RANGE (seq);
COMMENT ON TABLE market.logs IS 'What happened to listings; what the actions said is on the listings, see the beginning of this migration';
COMMENT ON COLUMN market.logs.seq IS 'Global sequence of the action';
COMMENT ON COLUMN market.logs.subject IS 'Id of the listing; 0 for the contract itself';
COMMENT ON COLUMN market.logs.action IS 'Code in log_actions';
COMMENT ON COLUMN market.logs.data IS 'What the action said, where no other row has it; null else';

-- Statistics of ranges of time and prices by day.

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

-- What listings are found by: traits that their assets have from the mint on, and terms.

-- MD5 says the same on every machine and in every version of PostgreSQL, where the hash functions of its indexes need not.
CREATE FUNCTION market.trait(kind text, value text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ('x' || left(md5(kind || E'\x1f' || value), 8))::bit(32)::integer
$$;
COMMENT ON FUNCTION market.trait IS 'Number of something that an asset has; different things may have the same one. Null for null';

-- A statement that reads from it does not call it: it becomes a part of the statement.
CREATE FUNCTION market.each_trait(data jsonb) RETURNS SETOF integer LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 10 AS $$
  SELECT market.trait('data ' || e.key,
    CASE jsonb_typeof(e.value) WHEN 'number' THEN trim_scale(e.value::numeric)::text ELSE e.value::text END)
  FROM jsonb_each(data) e WHERE jsonb_typeof(e.value) NOT IN ('array', 'object')
$$;
COMMENT ON FUNCTION market.each_trait IS 'Numbers of the attributes of an asset that cannot change, lists left out';

CREATE FUNCTION market.data_traits(data jsonb) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg(t.trait) FROM market.each_trait(data) t(trait)
$$;
COMMENT ON FUNCTION market.data_traits IS 'The same as an array; null without any';

CREATE FUNCTION market.asset_traits(minter text, receiver text, data jsonb) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT v.trait ORDER BY v.trait), '{}')
  FROM unnest(market.data_traits(data) || market.trait('minter', minter) || market.trait('receiver', receiver)) v(trait)
  WHERE v.trait IS NOT NULL
$$;
COMMENT ON FUNCTION market.asset_traits IS 'Numbers of what an asset has from the mint on, distinct and ascending: minter, initial receiver, attributes that cannot change';

-- Written as one expression: a statement that reads from it does not call it, as it becomes a part of the statement.
CREATE FUNCTION market.listing_terms(
  traits integer[], template_id integer, template_ids integer[], schema_name text, schema_names text[], asset_count smallint,
  collection_name text, buyer text, maker text, taker text, symbol text, seller text, state smallint
) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_remove(traits || template_ids || ARRAY[
    coalesce(template_id, market.trait('is', 'plain')),
    CASE WHEN asset_count > 1 THEN market.trait('is', 'bundle') END,
    CASE WHEN cardinality(schema_names) > 2 THEN market.trait('is', 'schemas') END,
    market.trait('schema', collection_name || '/' || coalesce(schema_name, schema_names[1])),
    CASE WHEN cardinality(schema_names) > 1 THEN market.trait('schema', collection_name || '/' || schema_names[2]) END,
    market.trait('buyer', buyer), market.trait('maker', maker), market.trait('taker', taker), market.trait('symbol', symbol),
    CASE WHEN state IS NOT NULL THEN market.trait('collection', collection_name) END,
    market.trait('seller', seller), market.trait('state', state::text)], NULL)
$$;
COMMENT ON FUNCTION market.listing_terms IS 'What a listing is found by: traits of its assets, numbers of its templates, and numbers of what else it has (see market.trait); is plain: no template of its own, is schemas: more than two of them. Of sales seller and state are null: they, and the collection, lead other indexes';

CREATE FUNCTION market.priced_by(price bigint, listing_symbol text, settlement_symbol text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN price IS NULL THEN market.trait('pair', listing_symbol || '/' || settlement_symbol) ELSE 0 END
$$;
COMMENT ON FUNCTION market.priced_by IS '0 for a sale with a price, else the number of the symbol pair that an oracle prices it by: of each the listing price grows with the price';

CREATE FUNCTION market.payout_terms(kind smallint, category smallint, symbol text, listing_id bigint, asset_id bigint) RETURNS integer[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_remove(ARRAY[market.trait('kind', kind::text), market.trait('category', category::text),
    market.trait('symbol', symbol), market.trait('listing', listing_id::text), market.trait('asset', asset_id::text)], NULL)
$$;
COMMENT ON FUNCTION market.payout_terms IS 'What a royalty payout is found by: numbers of what it has (see market.trait)';

-- What the writer itself looks things up by, beside primary keys. Indexes for queries are in indexes/market.sql.
-- The few sales without an offer are counted by it, too.
CREATE INDEX sales_offer_idx ON market.sales (offer_id) WHERE state IN (1, 4) OR offer_id IS NULL;
CREATE INDEX sales_floor_idx ON market.sales (template_id, settlement_symbol, listing_symbol, listing_price, sale_id) WHERE state = 1 AND template_id IS NOT NULL;
CREATE INDEX sales_listed_age_idx ON market.sales (updated_at_time) WHERE state = 1 AND template_id IS NOT NULL;
CREATE INDEX sales_listed_seller_idx ON market.sales (seller) WHERE state = 1;
CREATE INDEX auctions_running_idx ON market.auctions (end_time) WHERE state = 1;
CREATE INDEX trades_time_idx ON market.trades (trade_time);
CREATE INDEX trades_template_idx ON market.trades (template_id, token_symbol, trade_time) WHERE template_id IS NOT NULL;

SELECT chain.create_undo_twin(t::regclass) FROM unnest(ARRAY[
  'market.config', 'market.counters', 'market.tokens', 'market.symbol_pairs', 'market.marketplaces', 'market.balances',
  'market.bonus_fees', 'market.bonus_fee_ranges', 'market.sales', 'market.auctions', 'market.buyoffers',
  'market.template_buyoffers', 'market.listing_assets', 'market.listing_counts', 'market.trades', 'market.trade_days',
  'market.collection_stats', 'market.schema_stats', 'market.account_stats', 'market.party_stats', 'market.template_points',
  'market.template_prices', 'market.royalty_configs', 'market.royalty_templates', 'market.royalty_attributes',
  'market.marketplace_accounts', 'market.price_days', 'market.marketplace_days', 'market.collection_days', 'market.schema_days',
  'market.marketplace_stats'
]) t;
