/**
 * SQL that derives, in one pass, the values that the filler maintains row by row for the market. The result is the
 * same.
 */

const kinds = [
  ['sales', 'sale_id', 1],
  ['auctions', 'auction_id', 2],
  ['buyoffers', 'buyoffer_id', 3],
] as const

const DAY_MS = 86_400_000
/** Suggested prices are computed from the trades of this many days. */
const RECENT_DAYS = 3
const RECENT_TRADES = 5

/**
 * SQL that derives from the market's listings: which assets they contain, their counts, the trades, and the sums and
 * suggested prices of the trades.
 * @param lastTime time of the last block, ms.
 */
export function marketSumsSql(lastTime: number): string {
  return [...listings(), ...trades(lastTime), ...sums, ...prices(lastTime)].join(';\n')
}

function listings(): string[] {
  return [
    ...kinds.map(
      ([table, key, kind]) =>
        `INSERT INTO market.listing_assets SELECT unnest(l.asset_ids), ${kind}, l.${key} FROM market.${table} l`,
    ),
    `INSERT INTO market.listing_assets SELECT l.asset_id, 4, l.buyoffer_id FROM market.template_buyoffers l WHERE l.asset_id IS NOT NULL`,
    ...[...kinds, ['template_buyoffers', 'buyoffer_id', 4] as const].map(
      ([table, , kind]) =>
        `INSERT INTO market.listing_counts SELECT ${kind}, l.state, l.collection_name, count(*) FROM market.${table} l GROUP BY 2, 3`,
    ),
  ]
}

/** Trades are inserted in the order of their times, as the reader of a chain writes them. */
function trades(lastTime: number): string[] {
  const burned = (id: string): string =>
    `(SELECT a.owner IS NULL FROM assets.assets a WHERE a.asset_id = ${id})`
  const ofOne = burned('CASE WHEN l.asset_count = 1 THEN l.asset_ids[1] END')
  const columns = `l.price, CASE WHEN l.asset_count = 1 THEN l.asset_ids[1] END, l.template_id,
      CASE WHEN l.asset_count = 1 THEN l.min_mint END, l.asset_count`
  const parties = `l.seller, l.buyer, l.maker_marketplace, coalesce(l.taker_marketplace, ''), l.collection_name, l.schema_name`
  return [
    `INSERT INTO market.trades SELECT 1, l.sale_id, l.updated_at_time, ${columns}, l.settlement_symbol, ${parties}, ${ofOne}
      FROM market.sales l WHERE l.state = 3 ORDER BY 3`,
    `INSERT INTO market.trades SELECT 2, l.auction_id, l.end_time * 1000, ${columns}, l.token_symbol, ${parties}, ${ofOne}
      FROM market.auctions l WHERE l.state = 1 AND l.buyer IS NOT NULL AND l.end_time * 1000 <= ${lastTime} ORDER BY 3`,
    `INSERT INTO market.trades SELECT 3, l.buyoffer_id, l.updated_at_time, ${columns}, l.token_symbol, ${parties}, ${ofOne}
      FROM market.buyoffers l WHERE l.state = 3 ORDER BY 3`,
    `INSERT INTO market.trades SELECT 4, l.buyoffer_id, l.updated_at_time, l.price, l.asset_id, l.template_id, l.mint, 1, l.token_symbol,
      ${parties}, ${burned('l.asset_id')} FROM market.template_buyoffers l WHERE l.state = 2 ORDER BY 3`,
  ]
}

/** Sums by day are inserted in the order of their days, as the reader of a chain writes them. */
const sums = [
  `INSERT INTO market.trade_days SELECT k.token_symbol, k.trade_time / ${DAY_MS}, k.collection_name, k.maker_marketplace,
      k.taker_marketplace, count(*), sum(k.price), count(*) FILTER (WHERE k.kind = 1), coalesce(sum(k.price) FILTER (WHERE k.kind = 1), 0)
    FROM market.trades k GROUP BY 1, 2, 3, 4, 5 ORDER BY 2`,
  `INSERT INTO market.collection_stats SELECT token_symbol, collection_name, sum(trades), sum(volume), sum(sales), sum(sale_volume)
    FROM market.trade_days GROUP BY 1, 2`,
  `INSERT INTO market.marketplace_days SELECT token_symbol, day, maker_marketplace, taker_marketplace, sum(trades), sum(volume)
    FROM market.trade_days GROUP BY 1, 2, 3, 4 ORDER BY 2`,
  `INSERT INTO market.collection_days SELECT token_symbol, collection_name, day, sum(trades), sum(volume)
    FROM market.trade_days GROUP BY 1, 2, 3 ORDER BY 3`,
  `INSERT INTO market.party_stats SELECT token_symbol, marketplace, account, collection_name, sum(s), sum(sv), sum(b), sum(bv) FROM (
      SELECT token_symbol, maker_marketplace AS marketplace, seller AS account, collection_name, 1 AS s, price AS sv, 0 AS b, 0 AS bv
      FROM market.trades
      UNION ALL SELECT token_symbol, taker_marketplace, buyer, collection_name, 0, 0, 1, price FROM market.trades) p
    GROUP BY 1, 2, 3, 4`,
  `INSERT INTO market.account_stats SELECT token_symbol, account, sum(sells), sum(sell_volume), sum(buys), sum(buy_volume)
    FROM market.party_stats GROUP BY 1, 2`,
  `INSERT INTO market.marketplace_accounts SELECT token_symbol, marketplace, account, count(sold),
      coalesce(sum(price) FILTER (WHERE sold IS NOT NULL), 0), count(bought), coalesce(sum(price) FILTER (WHERE bought IS NOT NULL), 0),
      min(sold), max(sold), min(bought), max(bought) FROM (
      SELECT token_symbol, maker_marketplace AS marketplace, seller AS account, trade_time AS sold, NULL::bigint AS bought, price
      FROM market.trades
      UNION ALL SELECT token_symbol, taker_marketplace, buyer, NULL, trade_time, price FROM market.trades) p
    GROUP BY 1, 2, 3`,
  `INSERT INTO market.marketplace_stats SELECT token_symbol, marketplace, count(*) FILTER (WHERE sells > 0), sum(sell_volume),
      count(*) FILTER (WHERE buys > 0), sum(buy_volume)
    FROM market.marketplace_accounts GROUP BY 1, 2`,
  `INSERT INTO market.schema_days SELECT symbol, collection_name, schema_name, at / ${DAY_MS}, sum(t), sum(v), sum(s), sum(sv), sum(l) FROM (
      SELECT token_symbol AS symbol, collection_name, schema_name, trade_time AS at, 1 AS t, price AS v, 0 AS s, 0 AS sv, 0 AS l
      FROM market.trades WHERE template_id IS NOT NULL
      UNION ALL SELECT settlement_symbol, collection_name, unnest(coalesce(schema_names, array_remove(ARRAY[schema_name], NULL))), CASE WHEN state = 3 THEN updated_at_time ELSE created_at_time END,
        0, 0, (state = 3)::integer, CASE WHEN state = 3 THEN price ELSE 0 END, (state IN (1, 4))::integer
      FROM market.sales WHERE state IN (1, 3, 4)) p GROUP BY 1, 2, 3, 4 ORDER BY 4`,
  `INSERT INTO market.schema_stats SELECT token_symbol, collection_name, schema_name, sum(trades), sum(volume), sum(sales), sum(sale_volume),
      sum(listings)
    FROM market.schema_days GROUP BY 1, 2, 3`,
  `INSERT INTO market.template_points SELECT template_id, token_symbol, price, count(*) FROM market.trades
    WHERE template_id IS NOT NULL GROUP BY 1, 2, 3`,
]

function prices(lastTime: number): string[] {
  const since = lastTime - RECENT_DAYS * DAY_MS
  return [
    `INSERT INTO market.price_days SELECT token_symbol, trade_time / ${DAY_MS}, count(*), sum(price),
        percentile_disc(0.5) WITHIN GROUP (ORDER BY price)
      FROM market.trades WHERE asset_count = 1 AND trade_time / ${DAY_MS} < ${Math.floor(lastTime / DAY_MS)} GROUP BY 1, 2`,
    `INSERT INTO market.template_prices (template_id, token_symbol, trades, volume, median, average, min, max, recent_median,
        recent_average, floor_price, suggested_median, suggested_average, collection_name, oracle_floors)
      SELECT p.template_id, p.token_symbol, p.trades, p.volume, p.median, p.average, p.min, p.max, p.recent_median, p.recent_average,
        f.floor_price, least(p.recent_median, f.floor_price), least(p.recent_average, f.floor_price), t.collection_name, f.oracle_floors
      FROM (SELECT k.template_id, k.token_symbol, count(*) AS trades, sum(k.price) AS volume,
          percentile_disc(0.5) WITHIN GROUP (ORDER BY k.price) AS median, round(avg(k.price))::bigint AS average, min(k.price) AS min,
          max(k.price) AS max, percentile_disc(0.5) WITHIN GROUP (ORDER BY k.price) FILTER (WHERE k.is_recent) AS recent_median,
          round(avg(k.price) FILTER (WHERE k.is_recent))::bigint AS recent_average
        FROM (SELECT template_id, token_symbol, price, trade_time >= ${since}
            OR row_number() OVER (PARTITION BY template_id, token_symbol ORDER BY trade_time DESC, kind, listing_id) <= ${RECENT_TRADES} AS is_recent
          FROM market.trades WHERE template_id IS NOT NULL) k GROUP BY 1, 2) p
        JOIN assets.templates t USING (template_id)
        LEFT JOIN LATERAL (SELECT min(l.floor) FILTER (WHERE l.symbol IS NULL) AS floor_price,
            jsonb_object_agg(l.symbol, l.floor::text) FILTER (WHERE l.symbol IS NOT NULL) AS oracle_floors
          FROM (SELECT CASE WHEN s.price IS NULL THEN s.listing_symbol END AS symbol, min(s.listing_price) AS floor FROM market.sales s
            WHERE s.state = 1 AND s.template_id = p.template_id AND s.settlement_symbol = p.token_symbol AND s.updated_at_time <= ${since}
              AND NOT EXISTS (SELECT FROM chain.code_accounts h WHERE h.account = s.seller)
            GROUP BY 1) l) f ON true`,
  ]
}
