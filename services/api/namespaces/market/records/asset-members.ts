import type { Session } from '../../../database/index.ts'
import type { AssetKey, RecordRenderer } from '../../assets/index.ts'
import { assetRenderer, jsonMembers, packRows, queryPacked, quoted } from '../../assets/index.ts'

/** What the records of a market are written with. */
export interface MarketTraits {
  /** Market contract account. */
  readonly contract: string
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/**
 * A suggested price of a row of `market.template_prices`, with the sales that an oracle prices. Few templates have any:
 * the function is called for these alone.
 */
export function cappedPrice(column: string, row: string): string {
  return `(CASE WHEN ${row}.oracle_floors IS NULL THEN ${column}
    ELSE market.capped(${column}, ${row}.token_symbol, ${row}.oracle_floors) END)`
}

/** Members in the order that clients know; `$1` is the contract. */
const PRICE = `concat('{"market_contract":"', $1::text, '","token":{"token_symbol":"', y.token_symbol,
    '","token_precision":', y.token_precision, ',"token_contract":"', y.token_contract, '"},', ${jsonMembers({
      median: quoted('k.median'),
      average: quoted('k.average'),
      suggested_median: quoted(cappedPrice('k.suggested_median', 'k')),
      suggested_average: quoted(cappedPrice('k.suggested_average', 'k')),
      min: quoted('k.min'),
      max: quoted('k.max'),
      sales: quoted('k.trades'),
    })}, '}')`

const PRICES = {
  name: 'template-price-members',
  text: `SELECT ${packRows(['p.template_id', 'p.prices'])} FROM (
      SELECT k.template_id, string_agg(${PRICE}, ',' ORDER BY k.token_symbol) AS prices
      FROM market.template_prices k JOIN market.tokens y USING (token_symbol)
      WHERE k.template_id = ANY($2::integer[]) GROUP BY k.template_id) p`,
}

const OFFERS = {
  name: 'template-offer-members',
  text: `SELECT ${packRows(['p.template_id', 'p.offers'])} FROM (
      SELECT b.template_id, string_agg(concat('{"market_contract":"', $1::text, '","buyoffer_id":"', b.buyoffer_id,
        '","token_symbol":"', b.token_symbol, '"}'), ',' ORDER BY b.token_symbol) AS offers
      FROM unnest($2::integer[]) AS t(template_id) CROSS JOIN market.tokens y CROSS JOIN LATERAL (
        SELECT o.template_id, o.token_symbol, o.buyoffer_id FROM market.template_buyoffers o
        WHERE o.template_id = t.template_id AND o.token_symbol = y.token_symbol AND o.state = 0
        ORDER BY o.price DESC, o.buyoffer_id LIMIT 1) b
      GROUP BY b.template_id) p`,
}

/** `$2`: assets; `$3`: seconds since 1970. */
const LISTINGS = {
  name: 'asset-listing-members',
  text: `SELECT ${packRows(['p.asset_id', 'p.sales', 'p.auctions'])} FROM (
      SELECT x.asset_id,
        string_agg(concat('{"market_contract":"', $1::text, '","sale_id":"', s.sale_id, '"}'), ',' ORDER BY s.sale_id)
          FILTER (WHERE s.sale_id IS NOT NULL) AS sales,
        string_agg(concat('{"market_contract":"', $1::text, '","auction_id":"', u.auction_id, '"}'), ',' ORDER BY u.auction_id)
          FILTER (WHERE u.auction_id IS NOT NULL) AS auctions
      FROM market.listing_assets x
        LEFT JOIN market.sales s ON x.kind = 1 AND s.sale_id = x.listing_id AND s.state = 1
        LEFT JOIN market.auctions u ON x.kind = 2 AND u.auction_id = x.listing_id AND u.state = 1
          AND u.end_time > $3::bigint
      WHERE x.asset_id = ANY($2::bigint[]) AND x.kind IN (1, 2) GROUP BY x.asset_id) p`,
}

/**
 * Renders assets as they stand inside listings: with the prices of their templates, without the listings that they are
 * part of.
 */
export function containedAssetRenderer(traits: MarketTraits): RecordRenderer {
  return assetRenderer(async (session, assets) => {
    const prices = await membersByTemplate(session, traits, PRICES, assets)
    return ([, templateId]) =>
      templateId === ''
        ? '"sales":[],"auctions":[]'
        : `"sales":[],"auctions":[],"prices":[${prices.get(templateId) ?? ''}],"template_buyoffers":[]`
  })
}

/** Renders assets by themselves: with prices, listings and the best offers for their templates. */
export function marketAssetRenderer(traits: MarketTraits): RecordRenderer {
  return assetRenderer(async (session, assets) => {
    const prices = await membersByTemplate(session, traits, PRICES, assets)
    const offers = await membersByTemplate(session, traits, OFFERS, assets)
    const listings = await listingsByAsset(session, traits, assets)
    return ([id, templateId]) => {
      const [sales, auctions] = listings.get(id) ?? ['', '']
      const own = `"sales":[${sales}],"auctions":[${auctions}]`
      if (templateId === '') return own
      return `${own},"prices":[${prices.get(templateId) ?? ''}],"template_buyoffers":[${offers.get(templateId) ?? ''}]`
    }
  })
}

async function membersByTemplate(
  session: Session,
  { contract }: MarketTraits,
  statement: { readonly name: string; readonly text: string },
  assets: readonly AssetKey[],
): Promise<Map<string, string>> {
  const templates = [...new Set(assets.map(([, templateId]) => templateId))].filter((id) => id !== '')
  if (templates.length === 0) return new Map()
  const rows = await queryPacked<[string, string]>(session, { ...statement, values: [contract, templates] })
  return new Map(rows)
}

async function listingsByAsset(
  session: Session,
  { contract, clock }: MarketTraits,
  assets: readonly AssetKey[],
): Promise<Map<string, [sales: string, auctions: string]>> {
  if (assets.length === 0) return new Map()
  const rows = await queryPacked<[string, string, string]>(session, {
    ...LISTINGS,
    values: [contract, assets.map(([id]) => id), Math.floor(clock() / 1000)],
  })
  return new Map(rows.map(([id, sales, auctions]) => [id, [sales, auctions]]))
}
