/** SQL that generates listings of the assets of a generated database. */

/** Parameters of the SQL that generates market rows. */
export interface MarketWorld {
  readonly sales: number
  readonly auctions: number
  readonly buyoffers: number
  readonly templateBuyoffers: number
  readonly assets: number
  readonly firstAssetId: number
  readonly lastBlock: number
  /** Time of block 0, ms since 1970. */
  readonly startTime: number
  /** Seed of all random choices. */
  readonly seed: number
}

/** Duration of a block, ms. */
const BLOCK_MS = 500
/** Sequence numbers that the market's own numbering reserves for a block. */
const BLOCK_SEQS = 1_000

/** SQL functions for reproducible random choices, and the contract's settings. */
export function settingsSql(world: MarketWorld): string {
  return `
    CREATE FUNCTION pg_temp.dice(i bigint, salt bigint) RETURNS double precision LANGUAGE sql IMMUTABLE AS
      $$ SELECT (hashint8extended(i, salt * 1000003 + ${world.seed}) & 1048575) / 1048576.0 $$;
    CREATE FUNCTION pg_temp.asset_at(x double precision) RETURNS bigint LANGUAGE sql IMMUTABLE AS
      $$ SELECT ${world.firstAssetId} + floor(x * ${world.assets})::bigint $$;
    CREATE FUNCTION pg_temp.time_of(block integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS
      $$ SELECT ${world.startTime} + block * ${BLOCK_MS}::bigint $$;
    CREATE FUNCTION pg_temp.marketplace(x double precision) RETURNS text LANGUAGE sql IMMUTABLE AS
      $$ SELECT CASE WHEN x < 0.55 THEN '' WHEN x < 0.85 THEN 'market.big' WHEN x < 0.99 THEN 'market.two'
        WHEN x < 0.999 THEN 'market.three' ELSE 'market.tiny' END $$;
    INSERT INTO chain.sources VALUES ('market', 'atomicmarket', 'generated'), ('oracle', 'delphioracle', 'generated');
    INSERT INTO market.config VALUES ('atomicmarket', '2.0.0', ${world.lastBlock}, 'atomicassets', 'delphioracle', 0, 0, 0.1, 120, 2592000,
      120, 0.01, 0.01);
    INSERT INTO market.tokens VALUES ('WAX', 0, 8, 'eosio.token'), ('KARMA', 1, 4, 'karmatoken'), ('RARE', 2, 0, 'raretoken');
    INSERT INTO market.symbol_pairs VALUES ('USD', 'WAX', 0, 2, 8, 'waxpusd', false);
    INSERT INTO oracle.pairs VALUES ('waxpusd', 523, 1, 4, 'WAXP', 8, 1, 'eosio.token', 'USD', 2, 1, '', true, true, false,
      'proposer', '1.00000000 WAX', '{}', '{}', 1, 1);
    INSERT INTO market.marketplaces SELECT m, pg_temp.time_of(1), 1, 'fees.market'
      FROM unnest(ARRAY['', 'market.big', 'market.two', 'market.three', 'market.tiny']) m;`
}

/**
 * SQL of the columns that a listing derives from its assets: one asset, or sometimes three neighbours of a collection.
 */
function listedSql(ids: string): string {
  return `CROSS JOIN LATERAL (
      SELECT array_agg(x.asset_id ORDER BY x.asset_id) AS asset_ids, count(*) AS asset_count,
        min(x.template_mint) AS min_mint, max(x.template_mint) AS max_mint,
        CASE WHEN count(*) = 1 THEN min(x.template_id) END AS template_id,
        CASE WHEN count(*) = 1 THEN min(x.schema_name) END AS schema_name,
        CASE WHEN count(*) > 1 THEN coalesce(array_agg(DISTINCT x.template_id ORDER BY x.template_id)
          FILTER (WHERE x.template_id IS NOT NULL), '{}') END AS template_ids,
        CASE WHEN count(*) > 1 THEN array_agg(DISTINCT x.schema_name ORDER BY x.schema_name) END AS schema_names,
        (SELECT coalesce(array_agg(DISTINCT v.trait ORDER BY v.trait), '{}')
          FROM assets.assets n CROSS JOIN unnest(market.asset_traits(n.minter, n.initial_receiver, n.immutable_data)) v(trait)
          WHERE n.asset_id = ANY(${ids}) AND n.collection_name = a.collection_name) AS traits,
        (array_agg(x.name ORDER BY x.asset_id))[1] AS name, string_agg(DISTINCT x.name, E'\\n' ORDER BY x.name) AS asset_names
      FROM (SELECT n.asset_id, n.template_mint, n.template_id, n.schema_name,
          (coalesce(t.mutable_data, '{}') || coalesce(n.mutable_data, '{}') || coalesce(n.immutable_data, '{}')
            || coalesce(t.immutable_data, '{}')) ->> 'name' AS name
        FROM assets.assets n LEFT JOIN assets.templates t USING (template_id)
        WHERE n.asset_id = ANY(${ids}) AND n.collection_name = a.collection_name) x) d`
}

/** SQL of the block of the i-th event: events are spread evenly from the first block to the last. */
const blockOf = (count: number, { lastBlock }: MarketWorld): string =>
  `greatest(2, floor(i::numeric * ${lastBlock - 10} / ${count}))::integer`

const idsOf = (salt: number): string =>
  `CASE WHEN pg_temp.dice(i, ${salt}) < 0.02 THEN ARRAY[a.asset_id, a.asset_id + 1, a.asset_id + 2] ELSE ARRAY[a.asset_id] END`

const priceOf = (salt: number): string =>
  `(100000 + floor(power(10, 5 + 6 * pg_temp.dice(i, ${salt}) * pg_temp.dice(i, ${salt + 1}))))::bigint`

const symbolOf = (salt: number): string =>
  `CASE WHEN pg_temp.dice(i, ${salt}) < 0.97 THEN 'WAX' WHEN pg_temp.dice(i, ${salt}) < 0.9995 THEN 'KARMA' ELSE 'RARE' END`

/**
 * Generates sales: most are sold, a sixth is listed, some are cancelled or invalid; a tenth is priced in another
 * currency.
 */
export function salesSql(world: MarketWorld): string {
  return `INSERT INTO market.sales (sale_id, created_at_time, updated_at_time, listing_price, price, offer_id, intended_median,
      collection_fee, created_at_block, updated_at_block, template_id, min_mint, max_mint, listing_precision,
      settlement_precision, state, asset_count, seller, buyer, listing_symbol, settlement_symbol, collection_name, schema_name,
      maker_marketplace, taker_marketplace, name, asset_names, asset_ids, template_ids, schema_names, traits)
    SELECT i, pg_temp.time_of(b), pg_temp.time_of(u.block), l.amount,
      CASE WHEN NOT s.is_foreign THEN l.amount WHEN s.state = 3 THEN market.settlement_price(l.amount, 10000000000, 480) END,
      CASE WHEN s.state = 2 AND i % 50 = 0 THEN NULL ELSE i END, CASE WHEN s.state = 3 THEN CASE WHEN s.is_foreign THEN 480 ELSE 0 END END,
      c.market_fee, b, u.block, d.template_id, d.min_mint, d.max_mint, CASE WHEN s.is_foreign THEN 2 ELSE 8 END, 8, s.state,
      d.asset_count, CASE WHEN s.state = 1 THEN a.owner ELSE coalesce(a.initial_receiver, 'somebody.wam') END,
      CASE WHEN s.state = 3 THEN coalesce(r.owner, 'somebody.wam') END, CASE WHEN s.is_foreign THEN 'USD' ELSE s.symbol END,
      CASE WHEN s.is_foreign THEN 'WAX' ELSE s.symbol END, a.collection_name, d.schema_name,
      pg_temp.marketplace(pg_temp.dice(i, 7)), CASE WHEN s.state = 3 THEN pg_temp.marketplace(pg_temp.dice(i, 8)) END,
      d.name, d.asset_names, d.asset_ids, d.template_ids, d.schema_names, d.traits
    FROM generate_series(1, ${world.sales}::bigint) i
      CROSS JOIN LATERAL (SELECT ${blockOf(world.sales, world)} AS b) o
      JOIN assets.assets a ON a.asset_id = pg_temp.asset_at(pg_temp.dice(i, 1))
      JOIN assets.assets r ON r.asset_id = pg_temp.asset_at(pg_temp.dice(i, 2))
      JOIN assets.collections c ON c.collection_name = a.collection_name
      CROSS JOIN LATERAL (SELECT ${symbolOf(3)} AS symbol, pg_temp.dice(i, 4) < 0.1 AS is_foreign,
        -- What has been listed lately is more often still listed.
        CASE WHEN pg_temp.dice(i, 5) < (CASE WHEN i > ${world.sales} * 0.8 THEN 0.45 ELSE 0.08 END) AND a.owner IS NOT NULL THEN 1
          WHEN pg_temp.dice(i, 6) < 0.78 THEN 3 WHEN pg_temp.dice(i, 6) < 0.93 THEN 2 ELSE 4 END AS state) s
      CROSS JOIN LATERAL (SELECT CASE WHEN s.is_foreign THEN ${priceOf(9)} / 10000 + 1 ELSE ${priceOf(9)} END AS amount) l
      CROSS JOIN LATERAL (SELECT least(${world.lastBlock}, b + CASE WHEN s.state IN (2, 3)
        THEN floor(power(10, 6 * pg_temp.dice(i, 11)))::integer ELSE 0 END) AS block) u
      ${listedSql(idsOf(12))}`
}

/**
 * Generates auctions: most have ended, some without a bid; one in twenty is cancelled; some run far into the future.
 */
export function auctionsSql(world: MarketWorld): string {
  return `INSERT INTO market.auctions (auction_id, created_at_time, updated_at_time, end_time, starting_price, price, collection_fee,
      created_at_block, updated_at_block, template_id, min_mint, max_mint, state, asset_count, claimed_by_seller, claimed_by_buyer,
      seller, buyer, token_symbol, collection_name, schema_name, maker_marketplace, taker_marketplace, name, asset_names,
      asset_ids, template_ids, schema_names, traits)
    SELECT i, pg_temp.time_of(b), pg_temp.time_of(least(${world.lastBlock}, b + 5000)),
      CASE WHEN i > ${world.auctions} * 0.96 THEN 4102444800 + i ELSE pg_temp.time_of(b) / 1000 + 86400 END, l.amount,
      l.amount + l.amount * s.bids / 10, c.market_fee, b, least(${world.lastBlock}, b + 5000), d.template_id, d.min_mint, d.max_mint, s.state,
      d.asset_count, s.bids > 0 AND s.state = 1 AND pg_temp.dice(i, 23) < 0.8, s.bids > 0 AND s.state = 1 AND pg_temp.dice(i, 24) < 0.9,
      coalesce(a.initial_receiver, 'somebody.wam'), CASE WHEN s.bids > 0 AND s.state = 1 THEN coalesce(r.owner, 'somebody.wam') END, ${symbolOf(25)},
      a.collection_name, d.schema_name, pg_temp.marketplace(pg_temp.dice(i, 26)),
      CASE WHEN s.bids > 0 AND s.state = 1 THEN pg_temp.marketplace(pg_temp.dice(i, 27)) END, d.name, d.asset_names, d.asset_ids,
      d.template_ids, d.schema_names, d.traits
    FROM generate_series(1, ${world.auctions}::bigint) i
      CROSS JOIN LATERAL (SELECT ${blockOf(world.auctions, world)} AS b) o
      JOIN assets.assets a ON a.asset_id = pg_temp.asset_at(pg_temp.dice(i, 20))
      JOIN assets.assets r ON r.asset_id = pg_temp.asset_at(pg_temp.dice(i, 21))
      JOIN assets.collections c ON c.collection_name = a.collection_name
      CROSS JOIN LATERAL (SELECT CASE WHEN pg_temp.dice(i, 22) < 0.05 THEN 2 WHEN pg_temp.dice(i, 22) < 0.06 THEN 0 ELSE 1 END AS state,
        floor(6 * pg_temp.dice(i, 28))::integer AS bids) s
      CROSS JOIN LATERAL (SELECT ${priceOf(29)} AS amount) l
      ${listedSql(idsOf(31))};
    INSERT INTO market.bids (seq, auction_id, amount, account)
      SELECT (l.created_at_block + n)::bigint * ${BLOCK_SEQS} + 500 + l.auction_id % 400, l.auction_id, l.starting_price + l.starting_price * n / 10,
        CASE WHEN l.price = l.starting_price + l.starting_price * n / 10 THEN l.buyer ELSE coalesce(r.owner, 'somebody.wam') END
      FROM market.auctions l CROSS JOIN generate_series(1, 5) n
        JOIN assets.assets r ON r.asset_id = pg_temp.asset_at(pg_temp.dice(l.auction_id * 10 + n, 32))
      WHERE l.buyer IS NOT NULL AND l.starting_price + l.starting_price * n / 10 <= l.price`
}

/** Generates buy offers: a third is pending, many are invalid because the asset has moved. */
export function buyoffersSql(world: MarketWorld): string {
  return `INSERT INTO market.buyoffers (buyoffer_id, created_at_time, updated_at_time, price, collection_fee, created_at_block,
      updated_at_block, template_id, min_mint, max_mint, state, asset_count, seller, buyer, token_symbol, collection_name, schema_name,
      maker_marketplace, taker_marketplace, memo, decline_memo, name, asset_names, asset_ids, template_ids, schema_names, traits)
    SELECT i, pg_temp.time_of(b), pg_temp.time_of(least(${world.lastBlock}, b + s.later)), ${priceOf(41)}, c.market_fee, b,
      least(${world.lastBlock}, b + s.later), d.template_id, d.min_mint, d.max_mint, s.state, d.asset_count,
      CASE WHEN s.state = 0 THEN a.owner ELSE coalesce(a.initial_receiver, 'somebody.wam') END, coalesce(r.owner, 'somebody.wam'), ${symbolOf(43)},
      a.collection_name, d.schema_name, pg_temp.marketplace(pg_temp.dice(i, 44)),
      CASE WHEN s.state = 3 THEN pg_temp.marketplace(pg_temp.dice(i, 45)) END, 'offer ' || i % 100, CASE WHEN s.state = 1 THEN 'no' END, d.name,
      d.asset_names, d.asset_ids, d.template_ids, d.schema_names, d.traits
    FROM generate_series(1, ${world.buyoffers}::bigint) i
      CROSS JOIN LATERAL (SELECT ${blockOf(world.buyoffers, world)} AS b) o
      JOIN assets.assets a ON a.asset_id = pg_temp.asset_at(pg_temp.dice(i, 46))
      JOIN assets.assets r ON r.asset_id = pg_temp.asset_at(pg_temp.dice(i, 47))
      JOIN assets.collections c ON c.collection_name = a.collection_name
      CROSS JOIN LATERAL (SELECT CASE WHEN pg_temp.dice(i, 48) < 0.3 AND a.owner IS NOT NULL THEN 0 WHEN pg_temp.dice(i, 48) < 0.4 THEN 1
        WHEN pg_temp.dice(i, 48) < 0.6 THEN 2 WHEN pg_temp.dice(i, 48) < 0.8 THEN 3 ELSE 4 END AS state,
        floor(power(10, 5 * pg_temp.dice(i, 49)))::integer AS later) s
      ${listedSql(idsOf(50))};
    INSERT INTO market.template_buyoffers (buyoffer_id, created_at_time, updated_at_time, price, asset_id, collection_fee, created_at_block,
      updated_at_block, template_id, mint, state, seller, buyer, token_symbol, collection_name, schema_name, maker_marketplace,
      taker_marketplace, name, traits)
    SELECT i, pg_temp.time_of(b), pg_temp.time_of(least(${world.lastBlock}, b + 900)), ${priceOf(61)}, CASE WHEN s.state = 2 THEN a.asset_id END,
      c.market_fee, b, least(${world.lastBlock}, b + 900), a.template_id, CASE WHEN s.state = 2 THEN a.template_mint END, s.state,
      CASE WHEN s.state = 2 THEN coalesce(a.initial_receiver, 'somebody.wam') END, coalesce(r.owner, 'somebody.wam'), ${symbolOf(63)}, a.collection_name,
      a.schema_name, pg_temp.marketplace(pg_temp.dice(i, 64)), CASE WHEN s.state = 2 THEN '' END, t.immutable_data ->> 'name',
      CASE WHEN s.state = 2 THEN market.asset_traits(a.minter, a.initial_receiver, a.immutable_data) ELSE '{}' END
    FROM generate_series(1, ${world.templateBuyoffers}::bigint) i
      CROSS JOIN LATERAL (SELECT ${blockOf(world.templateBuyoffers, world)} AS b) o
      JOIN assets.assets a ON a.asset_id = pg_temp.asset_at(pg_temp.dice(i, 66))
      JOIN assets.assets r ON r.asset_id = pg_temp.asset_at(pg_temp.dice(i, 67))
      JOIN assets.collections c ON c.collection_name = a.collection_name
      JOIN assets.templates t ON t.template_id = a.template_id
      CROSS JOIN LATERAL (SELECT CASE WHEN pg_temp.dice(i, 68) < 0.4 THEN 0 WHEN pg_temp.dice(i, 68) < 0.6 THEN 1 ELSE 2 END AS state) s`
}

/** Generates the logs of every listing, and the blocks of logs and bids. */
export function logsSql(): string {
  const first = (table: string, key: string, action: number, place = 0): string =>
    `SELECT l.created_at_block::bigint * ${BLOCK_SEQS} + l.${key} % 200 * 2 + ${place}, l.${key}, ${action} FROM market.${table} l`
  const last = (table: string, key: string, action: number, state: number): string =>
    `SELECT l.updated_at_block::bigint * ${BLOCK_SEQS} + 400 + l.${key} % 100, l.${key}, ${action} FROM market.${table} l WHERE l.state = ${state}`
  return `INSERT INTO market.logs (seq, subject, action)
      ${[
        first('sales', 'sale_id', 1),
        first('sales', 'sale_id', 2, 1),
        last('sales', 'sale_id', 3, 2),
        last('sales', 'sale_id', 4, 3),
        first('auctions', 'auction_id', 20),
        last('auctions', 'auction_id', 21, 1),
        first('buyoffers', 'buyoffer_id', 40),
        last('buyoffers', 'buyoffer_id', 43, 3),
        first('template_buyoffers', 'buyoffer_id', 60),
      ].join(' UNION ALL ')};
    INSERT INTO market.blocks (first_seq, block_time, block_num, tx_offsets, txids)
      SELECT b * ${BLOCK_SEQS}, pg_temp.time_of(b::integer), b, '{0}', decode(md5(b::text) || md5((b + 1)::text), 'hex')
      FROM (SELECT DISTINCT seq / ${BLOCK_SEQS} AS b FROM (SELECT seq FROM market.logs UNION ALL SELECT seq FROM market.bids) e) k`
}

/** Generates royalties of sold sales. Two recipients share each royalty; the collection's author gets the remainder. */
export function payoutsSql(world: MarketWorld): string {
  return `INSERT INTO market.royalty_payouts (seq, payout_index, category, kind, template_id, listing_id, asset_id, rule_id, amount,
      paid_at_time, token_symbol, collection_name, recipient)
    SELECT l.updated_at_block::bigint * ${BLOCK_SEQS} + 900 + l.sale_id % 100, n, CASE WHEN n = 2 THEN 4 ELSE 1 + l.sale_id % 3 END, 1, l.template_id,
      l.sale_id, l.asset_ids[1], CASE WHEN l.sale_id % 3 = 2 THEN l.sale_id % 50 END, l.price / 50 / (n + 1) + 1, l.updated_at_time,
      l.settlement_symbol, l.collection_name, CASE WHEN n = 2 THEN c.author ELSE coalesce(r.owner, 'somebody.wam') END
    FROM market.sales l JOIN assets.collections c USING (collection_name) CROSS JOIN generate_series(0, 2) n
      JOIN assets.assets r ON r.asset_id = pg_temp.asset_at(power(pg_temp.dice(l.sale_id % 5000 + n, 81), 3))
    WHERE l.state = 3 AND l.sale_id % 4 = 0 AND l.updated_at_block < ${world.lastBlock} ON CONFLICT DO NOTHING`
}

/** Highest sequence number of the market's events. */
export function lastSequence({ lastBlock }: MarketWorld): number {
  return (lastBlock + 10) * BLOCK_SEQS
}
