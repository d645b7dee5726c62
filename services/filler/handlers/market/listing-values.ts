import type { Derivation, DerivedStep, RowSink } from '../../rows/operations.ts'
import { ascending, TRAITS_OF_ASSET } from './listed-assets.ts'
import { auctionTrades } from './trades.ts'
import { kinds, tables } from './tables.ts'

/** Derives the sale state from the offer: a started sale is listed while its offer is pending and invalid otherwise. */
export const saleStates: Derivation<{ sale_id: bigint; state: number }> = {
  kind: 'derivation',
  name: 'states of sales',
  keys: 'bigint',
  sources: [{ table: 'assets.offers', columns: ['state'], key: 'offer_id' }],
  statement: `
    SELECT s.sale_id, v.state
    FROM market.sales s JOIN assets.offers o ON o.offer_id = s.offer_id
    CROSS JOIN LATERAL (SELECT CASE o.state WHEN 0 THEN 1 ELSE 4 END AS state) v
    WHERE s.offer_id = ANY($1::bigint[]) AND s.state IN (1, 4) AND s.state <> v.state ORDER BY s.sale_id`,
  apply: (rows, sink) => {
    for (const { sale_id, state } of rows) sink.patch(tables.sales, { sale_id }, { state })
  },
}

/**
 * Derives the paid amount of a sale with an oracle price, by the formula of the contract. The contract computes with
 * doubles and truncates the result. Inputs are the median in the purchase action and the precision of the oracle pair
 * as of the purchase block.
 *
 * Keys have two forms. The first form is the id of a sold sale. The second form is `name places block`, which
 * `noteFormerTerms` records: the decimal places that oracle pair `name` had before block `block` changed the pair.
 * `places` is empty if the pair did not exist. If one block changes a pair and contains a sale at the price of the
 * pair, the precision before the change applies.
 */
export const salePrices: Derivation<{ sale_id: bigint; price: bigint }> = {
  kind: 'derivation',
  name: 'prices of sold sales',
  keys: 'text',
  sources: [],
  statement: `
    WITH former AS MATERIALIZED (
      SELECT split_part(k, ' ', 1) AS name, nullif(split_part(k, ' ', 2), '')::integer AS median_precision,
        split_part(k, ' ', 3)::integer AS until_block
      FROM unnest($1::text[]) k WHERE k LIKE '% %'
    )
    SELECT s.sale_id, CASE
      WHEN s.intended_median = 0 THEN s.listing_price
      WHEN v.amount >= 9223372036854775807::double precision THEN 9223372036854775807
      ELSE floor(v.amount)::bigint END AS price
    FROM market.sales s
    LEFT JOIN market.symbol_pairs y ON y.listing_symbol = s.listing_symbol AND y.settlement_symbol = s.settlement_symbol
      AND NOT EXISTS (SELECT FROM former f
        WHERE f.name = y.listing_symbol || '/' || y.settlement_symbol AND f.until_block > s.updated_at_block)
    LEFT JOIN LATERAL (
      SELECT f.median_precision, f.until_block FROM former f
      WHERE f.name = y.pair_name AND f.until_block >= s.updated_at_block
        AND (f.until_block > s.updated_at_block OR f.median_precision IS NOT NULL)
      ORDER BY f.until_block LIMIT 1
    ) f ON true
    LEFT JOIN oracle.pairs p ON p.pair_name = y.pair_name AND f.until_block IS NULL
    LEFT JOIN LATERAL (SELECT coalesce(f.median_precision, p.median_precision) AS places) m ON m.places <= 40
    CROSS JOIN LATERAL (SELECT CASE
      WHEN s.intended_median = 0 THEN NULL
      WHEN y.invert_pair THEN s.listing_price::double precision * s.intended_median::double precision
        * power(10::double precision, s.settlement_precision - s.listing_precision - m.places)
      ELSE s.listing_price::double precision / s.intended_median::double precision
        * power(10::double precision, m.places + s.settlement_precision - s.listing_precision)
      END AS amount) v
    WHERE s.sale_id = ANY(ARRAY(SELECT k::bigint FROM unnest($1::text[]) k WHERE k NOT LIKE '% %'))
      AND s.state = 3 AND s.price IS NULL AND (s.intended_median = 0 OR v.amount IS NOT NULL)
    ORDER BY s.sale_id`,
  apply: (rows, sink) => {
    for (const { sale_id, price } of rows) sink.patch(tables.sales, { sale_id }, { price })
  },
}

/**
 * Requests the prices of the sales that depend on an oracle pair or a symbol pair. `precision` is the former precision
 * of the oracle pair; null means that the symbol pair did not exist before. `name` is the name of the oracle pair, or
 * `LISTING/SETTLEMENT` for a symbol pair.
 */
export function noteFormerTerms(
  sink: RowSink,
  name: string,
  precision: number | null,
  untilBlock: number,
): void {
  sink.recheck(salePrices, `${name} ${precision ?? ''} ${untilBlock}`)
}

/**
 * Derives the buy offer state: a pending buy offer is invalid while its recipient does not own one of the assets.
 * Assets that the database does not know count as not owned.
 */
export const buyofferStates: Derivation<{ buyoffer_id: bigint; state: number }> = {
  kind: 'derivation',
  name: 'states of buy offers',
  keys: 'bigint',
  sources: [{ table: 'assets.assets', columns: ['owner'], key: 'asset_id' }],
  statement: `
    SELECT b.buyoffer_id, v.state
    FROM (SELECT DISTINCT listing_id FROM market.listing_assets WHERE asset_id = ANY($1::bigint[]) AND kind = ${kinds.buyoffer}) l
    JOIN market.buyoffers b ON b.buyoffer_id = l.listing_id AND b.state IN (0, 4)
    CROSS JOIN LATERAL (SELECT CASE WHEN EXISTS (
      SELECT 1 FROM unnest(b.asset_ids) g(id) LEFT JOIN assets.assets a ON a.asset_id = g.id WHERE a.owner IS DISTINCT FROM b.seller
    ) THEN 4 ELSE 0 END AS state) v
    WHERE b.state <> v.state ORDER BY b.buyoffer_id`,
  apply: (rows, sink) => {
    for (const { buyoffer_id, state } of rows) sink.patch(tables.buyoffers, { buyoffer_id }, { state })
  },
}

/** Fills in mint number, name and prefilter columns of the delivered asset in fulfilled template buy offers. */
export const deliveredAssets: Derivation<{
  buyoffer_id: bigint
  mint: number | null
  schema_name: string
  name: string | null
  traits: readonly number[]
}> = {
  kind: 'derivation',
  name: 'delivered assets',
  keys: 'bigint',
  sources: [],
  statement: `
    SELECT b.buyoffer_id, a.template_mint AS mint, a.schema_name,
      market.asset_name(t.immutable_data, a.immutable_data, a.mutable_data, t.mutable_data) AS name,
      ${TRAITS_OF_ASSET} AS traits
    FROM market.template_buyoffers b JOIN assets.assets a ON a.asset_id = b.asset_id
    LEFT JOIN assets.templates t ON t.template_id = a.template_id
    WHERE b.buyoffer_id = ANY($1::bigint[]) ORDER BY b.buyoffer_id`,
  apply: (rows, sink) => {
    for (const { buyoffer_id, traits, ...asset } of rows)
      sink.patch(tables.templateBuyoffers, { buyoffer_id }, { ...asset, traits: ascending(traits) })
  },
}

/** Steps that derive states, prices and deliveries of listings. Each step follows the steps whose results it reads. */
export const listingValues: readonly DerivedStep[] = [saleStates, salePrices, buyofferStates, deliveredAssets]

/**
 * Removes the trades of finished auctions of several assets that nobody has claimed, when the contract is upgraded to
 * version 2: version 2 refunds these auctions.
 */
export const auctionFlip: Derivation<{ auction_id: bigint }> = {
  kind: 'derivation',
  name: 'unclaimed auctions of several assets when the market contract is upgraded to version 2',
  keys: 'bigint',
  sources: [],
  statement: `
    SELECT a.auction_id FROM market.auctions a
    WHERE $1::bigint[] IS NOT NULL AND a.state = 1 AND a.asset_count > 1 AND NOT (a.claimed_by_seller OR a.claimed_by_buyer)
      AND EXISTS (SELECT 1 FROM market.trades t WHERE t.kind = ${kinds.auction} AND t.listing_id = a.auction_id)
    ORDER BY a.auction_id`,
  apply: (rows, sink) => {
    for (const { auction_id } of rows) sink.recheck(auctionTrades, auction_id)
  },
}
