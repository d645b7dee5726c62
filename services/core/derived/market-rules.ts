import { describedColumns, listingFacts, nameSql, traitsSql } from './listing-facts.ts'
import { allMarketListings, hasAssetIds } from '../model/tables/index.ts'
import { restingOn, sameRows } from './rule.ts'
import type { DerivedRule } from './rule.ts'
import type { MarketListing } from '../model/tables/index.ts'

const NOW = '(SELECT max(block_time) FROM chain.readers)'
const IS_V2 = '(SELECT coalesce(bool_or(v2_since_block IS NOT NULL), false) FROM market.config)'
const RECENT_MS = 3 * 86_400_000

/** Rule: the asset columns of a listing match its assets. */
function describesAssets({ table: { name: table, key } }: MarketListing): DerivedRule {
  const id = key[0]!
  return {
    rule: `each row of ${table} has the names, templates, schemas and mint numbers of its assets`,
    covers: { [table]: ['asset_count', ...describedColumns] },
    violations: `
      SELECT concat_ws(' ', l.${id}, 'is', f::text, 'but', l.min_mint, l.max_mint, l.template_ids, l.schema_names, l.name, l.asset_names, l.template_id, l.schema_name, l.traits)
      FROM ${table} l CROSS JOIN LATERAL (
        ${listingFacts}
      ) f
      WHERE l.asset_count <> cardinality(l.asset_ids) OR (l.min_mint, l.max_mint, l.template_ids, l.schema_names, l.name, l.template_id, l.schema_name, l.asset_names, l.traits)
        IS DISTINCT FROM (f.min_mint, f.max_mint, f.template_ids, f.schema_names, f.name, f.template_id, f.schema_name, f.asset_names, f.traits)`,
  }
}

/** Statement that returns the rows of listing_assets of a kind of listing. */
function assetsOfListings(listing: MarketListing): string {
  const { kind, table } = listing
  const [assets, where] = hasAssetIds(listing)
    ? ['unnest(asset_ids)', '']
    : ['asset_id', ' WHERE asset_id IS NOT NULL']
  return `SELECT ${assets}, ${kind}::smallint, ${table.key[0]!} FROM ${table.name}${where}`
}

const TRADE = `
  CASE WHEN l.asset_count = 1 THEN l.asset_ids[1] END, CASE WHEN l.asset_count = 1 THEN l.template_id END,
  CASE WHEN l.asset_count = 1 THEN l.min_mint END, l.asset_count::integer`
const PARTIES = `l.seller, l.buyer, l.maker_marketplace, l.taker_marketplace, l.collection_name, CASE WHEN l.asset_count = 1 THEN l.schema_name END`

const SUMS = `count(*), sum(price), count(*) FILTER (WHERE kind = 1), coalesce(sum(price) FILTER (WHERE kind = 1), 0)`

const OF_SCHEMAS = `sum(trades)::bigint, sum(volume), sum(sales)::bigint, sum(sale_volume), sum(listings)::bigint FROM (
    SELECT token_symbol, collection_name, schema_name, trade_time AS at, 1 AS trades, price AS volume, 0 AS sales, 0 AS sale_volume, 0 AS listings
    FROM market.trades WHERE asset_count = 1 AND template_id IS NOT NULL AND schema_name IS NOT NULL
    UNION ALL SELECT settlement_symbol, collection_name, unnest(coalesce(schema_names, array_remove(ARRAY[schema_name], NULL))), CASE WHEN state = 3 THEN updated_at_time ELSE created_at_time END,
      0, 0, (state = 3)::integer, CASE WHEN state = 3 THEN price ELSE 0 END, (state IN (1, 4))::integer FROM market.sales WHERE state IN (1, 3, 4)
  ) s`

/**
 * SQL of the name of a template buy offer `b`: the name of the bought asset `a`, or without an asset the name in the
 * template `w`.
 */
const TEMPLATE_OFFER_NAME = `CASE WHEN a.asset_id IS NOT NULL THEN ${nameSql('a')} ELSE coalesce(w.mutable_data, '{}') || w.immutable_data ->> 'name' END`
const TEMPLATE_OFFER_TRAITS = traitsSql('g.asset_id = b.asset_id')

/** Rules of the values derived from listings and trades in the market and its oracle. */
export const marketRules: readonly DerivedRule[] = [
  {
    rule: 'a listed sale has a pending offer, and an invalid sale has no pending offer',
    covers: { 'market.sales': ['state'] },
    violations: `
      SELECT concat_ws(' ', 'sale', sale_id, s.state, 'offer', o.state) FROM market.sales s LEFT JOIN assets.offers o USING (offer_id)
      WHERE (s.state = 1 AND o.state IS DISTINCT FROM 0) OR (s.state = 4 AND o.state = 0) OR (s.state = 0 AND s.offer_id IS NOT NULL)
        OR s.state NOT BETWEEN 0 AND 4 OR (s.created_at_block > 0 AND s.offer_id IS NOT NULL AND o.offer_id IS NULL)`,
    correction: `
      UPDATE market.sales s SET state = v.state FROM (
        SELECT sale_id, CASE o.state WHEN 0 THEN 1 ELSE 4 END AS state FROM market.sales x LEFT JOIN assets.offers o USING (offer_id)
        WHERE x.state IN (0, 1, 4) AND x.offer_id IS NOT NULL) v
      WHERE s.sale_id = v.sale_id AND s.state <> v.state`,
  },
  {
    rule: 'an open buy offer is invalid while its recipient lacks a requested asset, and valid otherwise',
    covers: { 'market.buyoffers': ['state'] },
    violations: `
      SELECT concat_ws(' ', 'buy offer', buyoffer_id, state) FROM market.buyoffers b
      WHERE state IN (0, 4) AND (state = 0) <> (SELECT count(*) = cardinality(b.asset_ids) FROM assets.assets a
        WHERE a.asset_id = ANY(b.asset_ids) AND a.owner = b.seller)`,
    correction: `
      UPDATE market.buyoffers b SET state = 4 - state
      WHERE state IN (0, 4) AND (state = 0) <> (SELECT count(*) = cardinality(b.asset_ids) FROM assets.assets a
        WHERE a.asset_id = ANY(b.asset_ids) AND a.owner = b.seller)`,
  },
  ...allMarketListings.filter(hasAssetIds).map(describesAssets),
  {
    rule: 'a template buy offer has the schema of its template, the mint number of the bought asset, and the name of this asset or else of the template',
    covers: { 'market.template_buyoffers': ['state', 'mint', 'schema_name', 'name', 'traits'] },
    violations: `
      SELECT concat_ws(' ', b.buyoffer_id, b.state, b.mint, b.name, b.schema_name, b.traits) FROM market.template_buyoffers b
      LEFT JOIN assets.assets a USING (asset_id) LEFT JOIN assets.templates w ON w.template_id = b.template_id
      WHERE b.state NOT IN (0, 1, 2) OR (b.state = 2) <> (b.asset_id IS NOT NULL AND b.seller IS NOT NULL) OR (b.mint, b.schema_name, b.name, b.traits) IS DISTINCT FROM (
        a.template_mint, w.schema_name, ${TEMPLATE_OFFER_NAME}, ${TEMPLATE_OFFER_TRAITS})`,
    // The correction sets only the columns `name` and `traits`. `verify --history --repair` corrects state, mint number
    // and schema.
    correction: `
      UPDATE market.template_buyoffers o SET name = e.name, traits = e.traits FROM (
        SELECT b.buyoffer_id, ${TEMPLATE_OFFER_NAME} AS name, ${TEMPLATE_OFFER_TRAITS} AS traits FROM market.template_buyoffers b
        LEFT JOIN assets.assets a USING (asset_id) LEFT JOIN assets.templates w ON w.template_id = b.template_id) e
      WHERE o.buyoffer_id = e.buyoffer_id AND (o.name, o.traits) IS DISTINCT FROM (e.name, e.traits)`,
  },
  ...restingOn('ended listings', [
    sameRows(
      'listing_assets has each asset of each listing',
      'market.listing_assets',
      'asset_id, kind, listing_id',
      allMarketListings.map(assetsOfListings).join(' UNION '),
    ),
    sameRows(
      'listing_counts counts listings by state and collection',
      'market.listing_counts',
      'kind, state, collection_name, listings',
      `SELECT kind::smallint, state, collection_name, count(*) FROM (
       ${allMarketListings.map(({ kind, table }) => `SELECT ${kind} AS kind, state, collection_name FROM ${table.name}`).join(' UNION ALL ')}
     ) l GROUP BY 1, 2, 3`,
    ),
  ]),
  {
    rule: 'the price of a sale is the paid price, or the asking price if no oracle is involved',
    covers: { 'market.sales': ['price'] },
    violations: `
      SELECT concat_ws(' ', 'sale', sale_id, price, listing_price, intended_median) FROM market.sales s
      LEFT JOIN market.symbol_pairs y USING (listing_symbol, settlement_symbol) LEFT JOIN oracle.pairs p USING (pair_name)
      WHERE CASE
        WHEN listing_symbol = settlement_symbol THEN price IS DISTINCT FROM listing_price
        WHEN state <> 3 THEN price IS NOT NULL
        WHEN intended_median IS NULL THEN price IS NOT NULL
        WHEN intended_median = 0 THEN price IS DISTINCT FROM listing_price
        WHEN y.invert_pair THEN abs(price - listing_price * intended_median * ('1e' || (s.settlement_precision - s.listing_precision - p.median_precision))::numeric) >= 1
        ELSE abs(price - listing_price / intended_median * ('1e' || (p.median_precision + s.settlement_precision - s.listing_precision))::numeric) >= 1 END`,
  },
  ...restingOn('ended listings', [
    sameRows(
      'market.trades has one row for each completed purchase',
      'market.trades',
      `kind::integer, listing_id, trade_time, price, token_symbol, asset_id, template_id, template_mint, asset_count::integer, seller, buyer, maker_marketplace,
     taker_marketplace, collection_name, schema_name`,
      `SELECT 1, sale_id, updated_at_time, price, settlement_symbol, ${TRADE}, ${PARTIES} FROM market.sales l WHERE state = 3
     UNION ALL SELECT 2, auction_id, end_time * 1000, price, token_symbol, ${TRADE}, ${PARTIES} FROM market.auctions l
       WHERE state = 1 AND end_time * 1000 <= ${NOW} AND buyer IS NOT NULL
         AND NOT (${IS_V2} AND asset_count > 1 AND NOT claimed_by_seller AND NOT claimed_by_buyer)
     UNION ALL SELECT 3, buyoffer_id, updated_at_time, price, token_symbol, ${TRADE}, ${PARTIES} FROM market.buyoffers l WHERE state = 3
     UNION ALL SELECT 4, buyoffer_id, updated_at_time, price, token_symbol, asset_id, template_id, mint, 1, seller, buyer, maker_marketplace,
       taker_marketplace, collection_name, schema_name FROM market.template_buyoffers WHERE state = 2`,
    ),
    {
      rule: 'the row of a trade records whether the traded asset has been burned',
      covers: { 'market.trades': ['asset_burned'] },
      violations: `
      SELECT concat_ws(' ', 'trade', t.kind, t.listing_id, t.asset_burned) FROM market.trades t LEFT JOIN assets.assets a USING (asset_id)
      WHERE t.asset_burned IS DISTINCT FROM CASE WHEN a.asset_id IS NOT NULL THEN a.owner IS NULL END`,
      correction: `
      UPDATE market.trades t SET asset_burned = (SELECT a.owner IS NULL FROM assets.assets a WHERE a.asset_id = t.asset_id)
      WHERE t.asset_burned IS DISTINCT FROM (SELECT a.owner IS NULL FROM assets.assets a WHERE a.asset_id = t.asset_id)`,
    },
    sameRows(
      'trade_days has the number and volume of trades by day, collection and marketplaces',
      'market.trade_days',
      'token_symbol, day, collection_name, maker_marketplace, taker_marketplace, trades, volume, sales, sale_volume',
      `SELECT token_symbol, (trade_time / 86400000)::integer, collection_name, maker_marketplace, taker_marketplace, ${SUMS}
     FROM market.trades GROUP BY 1, 2, 3, 4, 5`,
    ),
    sameRows(
      'marketplace_days has the number and volume of trades by day and marketplaces',
      'market.marketplace_days',
      'token_symbol, day, maker_marketplace, taker_marketplace, trades, volume',
      `SELECT token_symbol, (trade_time / 86400000)::integer, maker_marketplace, taker_marketplace, count(*), sum(price)
     FROM market.trades GROUP BY 1, 2, 3, 4`,
    ),
    sameRows(
      'collection_days has the number and volume of trades by collection and day',
      'market.collection_days',
      'token_symbol, collection_name, day, trades, volume',
      `SELECT token_symbol, collection_name, (trade_time / 86400000)::integer, count(*), sum(price) FROM market.trades GROUP BY 1, 2, 3`,
    ),
    sameRows(
      'collection_stats has the number and volume of trades by collection',
      'market.collection_stats',
      'token_symbol, collection_name, trades, volume, sales, sale_volume',
      `SELECT token_symbol, collection_name, ${SUMS} FROM market.trades GROUP BY 1, 2`,
    ),
    sameRows(
      'account_stats has the number and volume of trades by account',
      'market.account_stats',
      'token_symbol, account, sells, sell_volume, buys, buy_volume',
      `SELECT token_symbol, account, count(*) FILTER (WHERE sold), coalesce(sum(price) FILTER (WHERE sold), 0),
       count(*) FILTER (WHERE NOT sold), coalesce(sum(price) FILTER (WHERE NOT sold), 0)
     FROM (SELECT token_symbol, seller AS account, true AS sold, price FROM market.trades
       UNION ALL SELECT token_symbol, buyer, false, price FROM market.trades) p GROUP BY 1, 2`,
    ),
    sameRows(
      'party_stats has the number and volume of trades by marketplace, account and collection',
      'market.party_stats',
      'token_symbol, marketplace, account, collection_name, sells, sell_volume, buys, buy_volume',
      `SELECT token_symbol, marketplace, account, collection_name, count(*) FILTER (WHERE sold), coalesce(sum(price) FILTER (WHERE sold), 0),
       count(*) FILTER (WHERE NOT sold), coalesce(sum(price) FILTER (WHERE NOT sold), 0)
     FROM (SELECT token_symbol, maker_marketplace AS marketplace, seller AS account, collection_name, true AS sold, price FROM market.trades
       UNION ALL SELECT token_symbol, taker_marketplace, buyer, collection_name, false, price FROM market.trades) p GROUP BY 1, 2, 3, 4`,
    ),
    sameRows(
      'marketplace_accounts has the number and volume of trades by marketplace and account',
      'market.marketplace_accounts',
      `token_symbol, marketplace, account, sells, sell_volume, buys, buy_volume, first_sold, last_sold, first_bought, last_bought`,
      `SELECT token_symbol, marketplace, account, count(*) FILTER (WHERE sold), coalesce(sum(price) FILTER (WHERE sold), 0),
       count(*) FILTER (WHERE NOT sold), coalesce(sum(price) FILTER (WHERE NOT sold), 0),
       min(trade_time) FILTER (WHERE sold), max(trade_time) FILTER (WHERE sold),
       min(trade_time) FILTER (WHERE NOT sold), max(trade_time) FILTER (WHERE NOT sold)
     FROM (SELECT token_symbol, maker_marketplace AS marketplace, seller AS account, true AS sold, price, trade_time FROM market.trades
       UNION ALL SELECT token_symbol, taker_marketplace, buyer, false, price, trade_time FROM market.trades) p GROUP BY 1, 2, 3`,
    ),
    sameRows(
      'price_days has the number, volume and median price of the single-asset trades of each past day',
      'market.price_days',
      'token_symbol, day, trades, volume, median',
      `SELECT token_symbol, (trade_time / 86400000)::integer, count(*), sum(price), percentile_disc(0.5) WITHIN GROUP (ORDER BY price)
     FROM market.trades WHERE asset_count = 1 AND trade_time / 86400000 < ${NOW} / 86400000 GROUP BY 1, 2`,
    ),
    sameRows(
      'marketplace_stats has the number of sellers and buyers of each marketplace, and their volume',
      'market.marketplace_stats',
      'token_symbol, marketplace, sellers, sell_volume, buyers, buy_volume',
      `SELECT token_symbol, marketplace, count(*) FILTER (WHERE sells > 0), sum(sell_volume), count(*) FILTER (WHERE buys > 0), sum(buy_volume)
     FROM market.marketplace_accounts GROUP BY 1, 2`,
    ),
    sameRows(
      'schema_stats has the number and volume of trades, and the number of open sales, by schema',
      'market.schema_stats',
      'token_symbol, collection_name, schema_name, trades, volume, sales, sale_volume, listings',
      `SELECT token_symbol, collection_name, schema_name, ${OF_SCHEMAS} GROUP BY 1, 2, 3`,
    ),
    sameRows(
      'schema_days has the number and volume of trades, and the number of open sales, by schema and day',
      'market.schema_days',
      'token_symbol, collection_name, schema_name, day, trades, volume, sales, sale_volume, listings',
      `SELECT token_symbol, collection_name, schema_name, (at / 86400000)::integer, ${OF_SCHEMAS} GROUP BY 1, 2, 3, 4`,
    ),
    sameRows(
      'template_points counts trades by template and price',
      'market.template_points',
      'template_id, token_symbol, price, trades',
      `SELECT template_id, token_symbol, price, count(*) FROM market.trades WHERE template_id IS NOT NULL GROUP BY 1, 2, 3`,
    ),
    sameRows(
      'template_prices has the prices that result from the trades and listed sales of each template',
      'market.template_prices',
      `template_id, token_symbol, trades, volume, median, average, min, max, recent_median, recent_average, floor_price, suggested_median,
     suggested_average, collection_name, oracle_floors`,
      `SELECT a.template_id, a.token_symbol, a.trades, a.volume, a.median, a.average, a.low, a.high, r.median, r.average, f.price,
       least(r.median, f.price), least(r.average, f.price), a.collection_name, o.floors
     FROM (SELECT template_id, token_symbol, count(*) AS trades, sum(price) AS volume, percentile_disc(0.5) WITHIN GROUP (ORDER BY price) AS median,
         round(avg(price))::bigint AS average, min(price) AS low, max(price) AS high, min(collection_name) AS collection_name
       FROM market.trades WHERE template_id IS NOT NULL GROUP BY 1, 2) a
     CROSS JOIN LATERAL (
       SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY price) AS median, round(avg(price))::bigint AS average FROM (
         SELECT price, trade_time, rank() OVER (ORDER BY trade_time DESC, kind DESC, listing_id DESC) AS place FROM market.trades t
         WHERE (t.template_id, t.token_symbol) = (a.template_id, a.token_symbol)) x WHERE place <= 5 OR trade_time > ${NOW} - ${RECENT_MS}) r
     CROSS JOIN LATERAL (SELECT min(listing_price) FILTER (WHERE listing_symbol = a.token_symbol) AS price FROM market.sales s
       WHERE s.state = 1 AND s.asset_count = 1 AND s.template_id = a.template_id AND s.settlement_symbol = a.token_symbol
         AND s.updated_at_time <= ${NOW} - ${RECENT_MS} AND s.seller NOT IN (SELECT account FROM chain.code_accounts)) f
     CROSS JOIN LATERAL (SELECT jsonb_object_agg(listing_symbol, price::text) AS floors FROM (
       SELECT listing_symbol, min(listing_price) AS price FROM market.sales s
       WHERE s.state = 1 AND s.asset_count = 1 AND s.template_id = a.template_id AND s.settlement_symbol = a.token_symbol
         AND s.listing_symbol <> a.token_symbol AND s.updated_at_time <= ${NOW} - ${RECENT_MS}
         AND s.seller NOT IN (SELECT account FROM chain.code_accounts) GROUP BY 1) p) o`,
    ),
  ]),
  {
    rule: 'the median of a symbol pair in oracle.pairs is the median of the newest data point of the pair',
    covers: {},
    violations: `
      SELECT concat_ws(' ', pair_name, p.median) FROM oracle.pairs p
      WHERE p.median IS NOT NULL AND EXISTS (SELECT 1 FROM oracle.datapoints d WHERE d.pair_name = p.pair_name)
        AND NOT EXISTS (SELECT 1 FROM oracle.datapoints d WHERE d.pair_name = p.pair_name AND (d.median, d.point_time) = (p.median, p.median_time)
          AND d.point_time = (SELECT max(point_time) FROM oracle.datapoints x WHERE x.pair_name = p.pair_name))`,
  },
]
