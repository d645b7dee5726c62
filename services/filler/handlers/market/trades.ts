import type { Derivation, DerivedStep, RowSink } from '../../rows/operations.ts'
import { kinds, tables } from './tables.ts'
import type { TradeRow } from './tables.ts'

/** A trade as a statement returns it. `is_trade` is false if the listing is not, or no longer, a trade. */
interface FoundTrade extends Omit<TradeRow, 'kind'> {
  is_trade: boolean
}

/** SQL for whether an asset is burned; null if the asset is unknown or its id is null. */
const isBurned = (asset: string): string =>
  `(SELECT a.owner IS NULL FROM assets.assets a WHERE a.asset_id = ${asset}) AS asset_burned`

/** SQL columns common to the trades of sales, auctions and buy offers; `l` is the listing row. */
const listedAssets = `
  CASE WHEN l.asset_count = 1 THEN l.asset_ids[1] END AS asset_id, l.template_id,
  CASE WHEN l.asset_count = 1 THEN l.min_mint END AS template_mint, l.asset_count, l.schema_name,
  l.seller, l.buyer, l.maker_marketplace, coalesce(l.taker_marketplace, '') AS taker_marketplace, l.collection_name,
  ${isBurned('CASE WHEN l.asset_count = 1 THEN l.asset_ids[1] END')}`

function writeTrades(kind: number, rows: readonly FoundTrade[], sink: RowSink): void {
  for (const { is_trade, ...trade } of rows) {
    if (is_trade) sink.upsert(tables.trades, { kind, ...trade })
    else sink.remove(tables.trades, { kind, listing_id: trade.listing_id })
  }
}

/** Derives trades of sold sales. No trade is ever removed: a sold sale stays sold. */
export const saleTrades: Derivation<FoundTrade> = {
  kind: 'derivation',
  name: 'trades of sales',
  keys: 'bigint',
  sources: [],
  statement: `
    SELECT true AS is_trade, l.sale_id AS listing_id, l.updated_at_time AS trade_time, l.price,
      l.settlement_symbol AS token_symbol, ${listedAssets}
    FROM market.sales l WHERE l.sale_id = ANY($1::bigint[]) AND l.state = 3 AND l.price IS NOT NULL ORDER BY l.sale_id`,
  apply: (rows, sink) => writeTrades(kinds.sale, rows, sink),
}

/**
 * Derives trades of auctions that ended with a bid. A trade may be removed again: version 2 of the contract cancels an
 * unclaimed auction of several assets and refunds the bid.
 */
export const auctionTrades: Derivation<FoundTrade> = {
  kind: 'derivation',
  name: 'trades of auctions',
  keys: 'bigint',
  clock: true,
  sources: [],
  statement: `
    SELECT * FROM (
      SELECT market.auction_state(l.state, l.end_time, l.buyer, l.asset_count, l.claimed_by_seller OR l.claimed_by_buyer,
          $2::bigint, EXISTS (SELECT 1 FROM market.config WHERE v2_since_block IS NOT NULL)) = 3 AS is_trade,
        l.auction_id AS listing_id, l.end_time * 1000 AS trade_time, l.price, l.token_symbol, ${listedAssets}
      FROM market.auctions l WHERE l.auction_id = ANY($1::bigint[])
    ) f
    WHERE f.is_trade OR EXISTS (SELECT 1 FROM market.trades t WHERE t.kind = ${kinds.auction} AND t.listing_id = f.listing_id)
    ORDER BY f.listing_id`,
  apply: (rows, sink) => writeTrades(kinds.auction, rows, sink),
}

/** Derives trades of accepted buy offers. */
export const buyofferTrades: Derivation<FoundTrade> = {
  kind: 'derivation',
  name: 'trades of buy offers',
  keys: 'bigint',
  sources: [],
  statement: `
    SELECT true AS is_trade, l.buyoffer_id AS listing_id, l.updated_at_time AS trade_time, l.price, l.token_symbol, ${listedAssets}
    FROM market.buyoffers l WHERE l.buyoffer_id = ANY($1::bigint[]) AND l.state = 3 ORDER BY l.buyoffer_id`,
  apply: (rows, sink) => writeTrades(kinds.buyoffer, rows, sink),
}

/** Derives trades of fulfilled template buy offers. */
export const templateBuyofferTrades: Derivation<FoundTrade> = {
  kind: 'derivation',
  name: 'trades of template buy offers',
  keys: 'bigint',
  sources: [],
  statement: `
    SELECT true AS is_trade, l.buyoffer_id AS listing_id, l.updated_at_time AS trade_time, l.price, l.token_symbol,
      l.asset_id, l.template_id, l.mint AS template_mint, 1 AS asset_count, l.schema_name, l.seller, l.buyer,
      l.maker_marketplace, coalesce(l.taker_marketplace, '') AS taker_marketplace, l.collection_name,
      ${isBurned('l.asset_id')}
    FROM market.template_buyoffers l WHERE l.buyoffer_id = ANY($1::bigint[]) AND l.state = 2 ORDER BY l.buyoffer_id`,
  apply: (rows, sink) => writeTrades(kinds.templateBuyoffer, rows, sink),
}

/** Marks trades whose asset was burned: clients can request prices without burned assets. */
const burnedTrades: Derivation<{ kind: number; listing_id: bigint }> = {
  kind: 'derivation',
  name: 'trades of burned assets',
  keys: 'bigint',
  sources: [{ table: 'assets.assets', columns: ['burned_at_time'], key: 'asset_id' }],
  statement: `
    SELECT t.kind, t.listing_id FROM market.listing_assets x
    JOIN market.trades t ON t.kind = x.kind AND t.listing_id = x.listing_id AND t.asset_id = x.asset_id
    JOIN assets.assets a ON a.asset_id = x.asset_id AND a.owner IS NULL
    WHERE x.asset_id = ANY($1::bigint[]) AND t.asset_burned IS DISTINCT FROM true ORDER BY t.kind, t.listing_id`,
  apply: (rows, sink) => {
    for (const key of rows) sink.patch(tables.trades, key, { asset_burned: true })
  },
}

/** Steps that derive the trades of each kind of listing, and whether the asset of a trade is burned. */
export const trades: readonly DerivedStep[] = [
  saleTrades,
  auctionTrades,
  buyofferTrades,
  templateBuyofferTrades,
  burnedTrades,
]
