import type { Session } from '../../../database/index.ts'
import type { AssetKey, Part, PartCache, PartKind, RecordRenderer } from '../../assets/index.ts'
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

/** Between the prices of a template; JSON text and names cannot contain it. */
const PRICE_END = '\u001d'

/** Members in the order that clients know, behind the contract. */
const PRICE = `concat('"token":{"token_symbol":"', y.token_symbol,
    '","token_precision":', y.token_precision, ',"token_contract":"', y.token_contract, '"},', ${jsonMembers({
      median: quoted('k.median'),
      average: quoted('k.average'),
      suggested_median: quoted(cappedPrice('k.suggested_median', 'k')),
      suggested_average: quoted(cappedPrice('k.suggested_average', 'k')),
      min: quoted('k.min'),
      max: quoted('k.max'),
      sales: quoted('k.trades'),
    })})`

/** Version of the prices of a template; those that depend on oracles change with every rate. */
const PRICES_VERSION = `string_agg(concat(k.xmin, '/', y.xmin, CASE WHEN k.oracle_floors IS NOT NULL THEN (
    SELECT string_agg(concat('/', s.xmin, '/', p.xmin), '' ORDER BY s.listing_symbol, s.settlement_symbol)
    FROM market.symbol_pairs s JOIN oracle.pairs p USING (pair_name)) END), ',' ORDER BY k.token_symbol)`

const pricesOf = (aggregates: string): string => `FROM (
      SELECT k.template_id, ${PRICES_VERSION} AS version${aggregates}
      FROM market.template_prices k JOIN market.tokens y USING (token_symbol)
      WHERE k.template_id = ANY($1::integer[]) GROUP BY k.template_id) k`

/** Key: template id. Part: its prices, without the contract. */
export const templatePrices: PartKind = {
  name: 'template-prices',
  key: 'k.template_id',
  version: 'k.version',
  texts: ['k.prices'],
  from: pricesOf(`, string_agg(${PRICE}, E'\\x1d' ORDER BY k.token_symbol) AS prices`),
}

const PRICE_VERSIONS = {
  name: 'template-price-versions',
  text: `SELECT ${packRows(['k.template_id', 'k.version'])} ${pricesOf('')}`,
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

/** What is looked up for the assets of a market. */
export interface AssetTraits extends MarketTraits {
  /** Parts of `templatePrices`. */
  readonly prices: PartCache
}

/**
 * Renders assets as they stand inside listings: with the prices of their templates, without the listings that they are
 * part of.
 */
export function containedAssetRenderer(traits: AssetTraits): RecordRenderer {
  return assetRenderer('contained asset', async (session, assets) => {
    const prices = await loadPrices(session, traits, assets)
    return ([, templateId]) => {
      const own = '"sales":[],"auctions":[]'
      if (templateId === '') return { of: [], members: () => own }
      const priced = prices.get(templateId)
      const members = (): string => `${own},"prices":[${priceList(traits, priced)}],"template_buyoffers":[]`
      return { of: [priced], members }
    }
  })
}

/** Renders assets by themselves: with prices, listings and the best offers for their templates. */
export function marketAssetRenderer(traits: AssetTraits): RecordRenderer {
  return assetRenderer('market asset', async (session, assets) => {
    const prices = await loadPrices(session, traits, assets)
    const offers = await offersByTemplate(session, traits, templatesOf(assets))
    const listings = await listingsByAsset(session, traits, assets)
    return ([id, templateId]) => {
      const [sales, auctions] = listings.get(id) ?? ['', '']
      const own = `"sales":[${sales}],"auctions":[${auctions}]`
      if (templateId === '') return { of: [own], members: () => own }
      const [priced, offered = ''] = [prices.get(templateId), offers.get(templateId)]
      const members = (): string =>
        `${own},"prices":[${priceList(traits, priced)}],"template_buyoffers":[${offered}]`
      return { of: [own, priced, offered], members }
    }
  })
}

function templatesOf(assets: readonly AssetKey[]): string[] {
  return [...new Set(assets.map(([, templateId]) => templateId))].filter((id) => id !== '')
}

async function loadPrices(
  session: Session,
  { prices }: AssetTraits,
  assets: readonly AssetKey[],
): Promise<ReadonlyMap<string, Part>> {
  const templates = templatesOf(assets)
  if (templates.length === 0) return new Map()
  const versions = await queryPacked<[string, string]>(session, { ...PRICE_VERSIONS, values: [templates] })
  return prices.load(session, new Map(versions))
}

function priceList({ contract }: MarketTraits, prices: Part | undefined): string {
  const all = prices?.[0]?.split(PRICE_END) ?? []
  return all.map((price) => `{"market_contract":"${contract}",${price}}`).join(',')
}

async function offersByTemplate(
  session: Session,
  { contract }: MarketTraits,
  templates: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (templates.length === 0) return new Map()
  return new Map(await queryPacked<[string, string]>(session, { ...OFFERS, values: [contract, templates] }))
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
