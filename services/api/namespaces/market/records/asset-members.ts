import { bind, raw, sql } from '../../../database/index.ts'
import { packRows, unpackRows } from '../../../records/index.ts'
import type { AssetExtension } from '../../assets/index.ts'

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

type PriceRow = readonly [
  template: string,
  symbol: string,
  precision: string,
  tokenContract: string,
  median: string,
  average: string,
  suggestedMedian: string,
  suggestedAverage: string,
  min: string,
  max: string,
  trades: string,
]

/** Prices of the distinct templates of the assets. */
const PRICES = `(SELECT ${packRows(
  [
    'k.template_id',
    'k.token_symbol',
    'y.token_precision',
    'y.token_contract',
    'k.median',
    'k.average',
    cappedPrice('k.suggested_median', 'k'),
    cappedPrice('k.suggested_average', 'k'),
    'k.min',
    'k.max',
    'k.trades',
  ],
  'k.token_symbol',
)} FROM (SELECT DISTINCT template_id FROM a) d CROSS JOIN LATERAL (
    SELECT k.* FROM market.template_prices k WHERE k.template_id = d.template_id OFFSET 0) k
    JOIN market.tokens y USING (token_symbol))`

/** The best open offer in each token for the distinct templates of the assets. */
const OFFERS = `(SELECT ${packRows(['b.template_id', 'b.buyoffer_id', 'b.token_symbol'], 'b.token_symbol')}
  FROM (SELECT DISTINCT template_id FROM a) d CROSS JOIN market.tokens y CROSS JOIN LATERAL (
    SELECT o.template_id, o.token_symbol, o.buyoffer_id FROM market.template_buyoffers o
    WHERE o.template_id = d.template_id AND o.token_symbol = y.token_symbol AND o.state = 0
    ORDER BY o.price DESC, o.buyoffer_id LIMIT 1) b)`

const SALES = `(SELECT ${packRows(['a.asset_id', 's.sale_id'], 's.sale_id')}
  FROM a CROSS JOIN LATERAL (SELECT x.listing_id FROM market.listing_assets x
    WHERE x.asset_id = a.asset_id AND x.kind = 1 OFFSET 0) x CROSS JOIN LATERAL (
    SELECT s.sale_id FROM market.sales s WHERE s.sale_id = x.listing_id AND s.state = 1 OFFSET 0) s)`

const AUCTIONS = [
  `(SELECT ${packRows(['a.asset_id', 'u.auction_id'], 'u.auction_id')}
  FROM a CROSS JOIN LATERAL (SELECT x.listing_id FROM market.listing_assets x
    WHERE x.asset_id = a.asset_id AND x.kind = 2 OFFSET 0) x CROSS JOIN LATERAL (
    SELECT u.auction_id FROM market.auctions u WHERE u.auction_id = x.listing_id AND u.state = 1 AND u.end_time > `,
  ' OFFSET 0) u)',
] as const

/**
 * What listings show of the assets in them: the prices of their templates, but not the listings that they are part of.
 */
export function containedAssetExtension({ contract }: MarketTraits): AssetExtension {
  return {
    columnCount: 1,
    select: () => ({ ctes: [], columns: [raw(PRICES)] }),
    read([packed]) {
      const prices = readPrices(contract, packed)
      return ([, , , templateId]) => {
        if (templateId === '') return '"sales":[],"auctions":[]'
        return `"sales":[],"auctions":[],"prices":[${prices.get(templateId) ?? ''}],"template_buyoffers":[]`
      }
    },
  }
}

/** What the market shows of assets by themselves: prices, listings and the best offers for their templates. */
export function marketAssetExtension({ contract, clock }: MarketTraits): AssetExtension {
  return {
    columnCount: 4,
    select() {
      const second = bind(Math.floor(clock() / 1000), 'bigint')
      const auctions = sql`${raw(AUCTIONS[0])}${second}${raw(AUCTIONS[1])}`
      return { ctes: [], columns: [raw(PRICES), raw(OFFERS), raw(SALES), auctions] }
    },
    read([packedPrices, packedOffers, packedSales, packedAuctions]) {
      const prices = readPrices(contract, packedPrices)
      const head = `{"market_contract":"${contract}",`
      const offers = readLists(
        unpackRows<[string, string, string]>(packedOffers),
        ([, id, symbol]) => `${head}"buyoffer_id":"${id}","token_symbol":"${symbol}"}`,
      )
      const sales = readLists(
        unpackRows<[string, string]>(packedSales),
        ([, id]) => `${head}"sale_id":"${id}"}`,
      )
      const auctions = readLists(
        unpackRows<[string, string]>(packedAuctions),
        ([, id]) => `${head}"auction_id":"${id}"}`,
      )
      return ([id, , , templateId]) => {
        const own = `"sales":[${sales.get(id) ?? ''}],"auctions":[${auctions.get(id) ?? ''}]`
        if (templateId === '') return own
        const offered = offers.get(templateId) ?? ''
        return `${own},"prices":[${prices.get(templateId) ?? ''}],"template_buyoffers":[${offered}]`
      }
    },
  }
}

function readPrices(contract: string, packed: string | null | undefined): Map<string, string> {
  return readLists(unpackRows<PriceRow>(packed), (row) => {
    const [, symbol, precision, tokenContract, median, average, ...more] = row
    const [suggestedMedian, suggestedAverage, min, max, trades] = more
    return (
      `{"market_contract":"${contract}","token":{"token_symbol":"${symbol}","token_precision":${precision},` +
      `"token_contract":"${tokenContract}"},"median":${quotedOrNull(median)},"average":${quotedOrNull(average)},` +
      `"suggested_median":${quotedOrNull(suggestedMedian)},"suggested_average":${quotedOrNull(suggestedAverage)},` +
      `"min":${quotedOrNull(min)},"max":${quotedOrNull(max)},"sales":${quotedOrNull(trades)}}`
    )
  })
}

/** JSON objects of packed rows, in comma lists by their first field. */
function readLists<Row extends readonly [key: string, ...string[]]>(
  rows: readonly Row[],
  objectOf: (row: Row) => string,
): Map<string, string> {
  const lists = new Map<string, string>()
  for (const row of rows) {
    const before = lists.get(row[0])
    const object = objectOf(row)
    lists.set(row[0], before === undefined ? object : `${before},${object}`)
  }
  return lists
}

function quotedOrNull(text: string): string {
  return text === '' ? 'null' : `"${text}"`
}
