/** SQL that generates the market's settings, and the rows that follow from its listings. */

/** Parameters of the SQL that generates market rows. */
export interface MarketWorld {
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
/**
 * Sequence numbers of a block for market events: an event's sequence number is its block number times BLOCK_SEQS, plus
 * an offset.
 */
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

/** Generates the bids of the auctions that have a buyer. */
export function bidsSql(): string {
  return `INSERT INTO market.bids (seq, auction_id, amount, account)
      SELECT (l.created_at_block + n)::bigint * ${BLOCK_SEQS} + 500 + l.auction_id % 400, l.auction_id, l.starting_price + l.starting_price * n / 10,
        CASE WHEN l.price = l.starting_price + l.starting_price * n / 10 THEN l.buyer ELSE coalesce(r.owner, 'somebody.wam') END
      FROM market.auctions l CROSS JOIN generate_series(1, 5) n
        JOIN assets.assets r ON r.asset_id = pg_temp.asset_at(pg_temp.dice(l.auction_id * 10 + n, 32))
      WHERE l.buyer IS NOT NULL AND l.starting_price + l.starting_price * n / 10 <= l.price`
}

/** Generates the logs of every listing, and a row of `market.blocks` for each block that has logs or bids. */
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
