import { raw, sql, where } from '../../../database/index.ts'
import type { Sql } from '../../../database/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { estimateRows } from '../../../lists/index.ts'
import type { Driven, Filter, List, Order } from '../../../lists/index.ts'
import {
  assetList,
  ASSETS,
  assetsOfTemplates,
  assetsWithoutValue,
  templateScope,
} from '../../assets/index.ts'
import type { AssetRequest, AssetValues } from '../../assets/index.ts'
import { cappedPrice } from '../records/index.ts'
import type { MarketSetup } from '../setup.ts'

/** In front of a query of prices: they are read once. */
const RATES = raw('WITH rates AS MATERIALIZED (SELECT * FROM market.rates)')

/** Prices of templates, `p`, as they are shown, by sort: SQL behind `RATES`. */
export const PRICE_COLUMNS: Readonly<Record<string, string>> = {
  suggested_median_price: cappedPrice('p.suggested_median', 'p', 'rates'),
  suggested_average_price: cappedPrice('p.suggested_average', 'p', 'rates'),
  median_price: 'p.median',
  average_price: 'p.average',
}

/**
 * A template has prices in every token that it was traded in; its assets are sorted by the one in the token that the
 * contract lists first. Most are traded in the first token.
 */
const IS_FIRST_TOKEN =
  raw(`CASE WHEN p.token_symbol = (SELECT y.token_symbol FROM market.tokens y ORDER BY y.place LIMIT 1) THEN true
  ELSE p.token_symbol = (SELECT q.token_symbol FROM market.template_prices q
    JOIN market.tokens y ON y.token_symbol = q.token_symbol WHERE q.template_id = p.template_id
    ORDER BY y.place LIMIT 1) END`)
/** OFFSET 0 is an optimization fence: a join would read the whole order. */
const HAS_PRICE = raw(
  'EXISTS (SELECT FROM market.template_prices p WHERE p.template_id = a.template_id OFFSET 0)',
)
const PRICES = 'market.template_prices'
/** Share of the assets without a price, without statistics. */
const UNPRICED = 0.2

/** A list of assets in the order of a price of their templates; what has no price comes last. */
export async function pricedAssets(
  context: EndpointContext<AssetValues>,
  { assets, trigrams }: MarketSetup,
  column: string,
): Promise<List> {
  const order = (request: AssetRequest, filters: readonly Filter[]): Order =>
    priceOrder(request, filters, column)
  const { list } = await assetList(assets.lists, trigrams, context, order)
  return list
}

function priceOrder(request: AssetRequest, filters: readonly Filter[], column: string): Order {
  const direction = request.values.order === 'asc' ? 'ASC' : 'DESC'
  return {
    direction,
    branches: [
      {
        rank: 0,
        column: 'price of the template',
        driven: templatesByPrice(request, column, direction),
        share: 1 - UNPRICED,
      },
      assetsWithoutValue('bigint', [sql`NOT ${HAS_PRICE}`], UNPRICED),
    ],
    sorted: { from: assetsWithPrice(request, filters, column), value: raw('p.price') },
  }
}

/** Assets, `a`, with the price of their template, `p.price`: few look it up, for many all prices are read once. */
function assetsWithPrice({ statistics }: AssetRequest, filters: readonly Filter[], column: string): Sql {
  const isFew = estimateRows(statistics.rows(ASSETS), filters) < statistics.rows(PRICES)
  return isFew
    ? sql`assets.assets a LEFT JOIN LATERAL (${RATES} SELECT ${raw(column)} AS price
        FROM market.template_prices p JOIN market.tokens y USING (token_symbol)
        WHERE p.template_id = a.template_id ORDER BY y.place LIMIT 1) p ON true`
    : sql`assets.assets a LEFT JOIN (${RATES} SELECT DISTINCT ON (p.template_id) p.template_id, ${raw(column)} AS price
        FROM market.template_prices p JOIN market.tokens y USING (token_symbol) ORDER BY p.template_id, y.place) p
        ON p.template_id = a.template_id`
}

/** Assets with a price, template by template in the order of the prices. */
function templatesByPrice(request: AssetRequest, column: string, direction: 'ASC' | 'DESC'): Driven {
  const { conditions, applied, templates, assets } = templateScope(request)
  const { statistics } = request
  const rowsOfEach = assets / Math.max(1, templates)
  return {
    applied,
    rows: assets,
    // No index has this order.
    drivers: (statistics.rows(PRICES) * templates) / statistics.rows('assets.templates'),
    rowsOfEach,
    query(checks, wanted, budget) {
      const drivers = sql`${RATES} SELECT t.template_id, ${raw(column)} AS value
        FROM market.template_prices p JOIN assets.templates t ON t.template_id = p.template_id
        ${where([IS_FIRST_TOKEN, ...conditions])} ORDER BY 2 ${raw(direction)}`
      return assetsOfTemplates({ drivers, conditions: checks, direction, wanted, budget, rowsOfEach })
    },
  }
}
