import { raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { estimateRows, foundConditions } from '../../../planner/filters/index.ts'
import { rowsByDrivingTable } from '../../../planner/sources/index.ts'
import type { DrivingTable, Order } from '../../../planner/sources/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { List, Statistics } from '../../../planner/index.ts'
import {
  assetList,
  assetsOfTemplates,
  assetsWithoutValue,
  templateScope,
} from '../../nft/asset-lists/index.ts'
import { isOneOf } from '../../nft/conditions/index.ts'
import { schemaFilters } from '../../nft/filters/index.ts'
import { ASSETS, TEMPLATES } from '../../nft/tables.ts'
import type { AssetRequest } from '../../nft/asset-lists/index.ts'
import type { AssetValues } from '../../nft/parameters/index.ts'
import { cappedPrice } from '../records/asset-members.ts'
import type { MarketSetup } from '../setup.ts'

/**
 * WITH clause of a query that computes prices. With MATERIALIZED, PostgreSQL computes the view market.rates once for
 * the query, not once for each row.
 */
const RATES = raw('WITH rates AS MATERIALIZED (SELECT * FROM market.rates)')

/**
 * SQL of the price for each value of the parameter `sort` that orders assets by price. `p` is the row of
 * market.template_prices. The query must begin with the WITH clause in `RATES`.
 */
export const priceColumns: Readonly<Record<string, string>> = {
  suggested_median_price: cappedPrice('p.suggested_median', 'p', 'rates'),
  suggested_average_price: cappedPrice('p.suggested_average', 'p', 'rates'),
  median_price: 'p.median',
  average_price: 'p.average',
}

/**
 * OFFSET 0 is an optimization fence: without it PostgreSQL turns EXISTS into a join, which reads all rows before the
 * LIMIT.
 */
const HAS_PRICE = raw(
  'EXISTS (SELECT FROM market.template_prices p WHERE p.template_id = a.template_id OFFSET 0)',
)

const PRICES = 'market.template_prices'
/**
 * If a query needs prices for fewer rows than this share of the rows of market.template_prices, the query looks up the
 * price of each row. Otherwise one scan reads all prices.
 */
const LOOKED_UP = 0.25
/** Assumed share of the assets whose template has no price. PostgreSQL has no statistics on this share. */
const UNPRICED = 0.2

/** A list of assets ordered by a price of their templates; assets without a price come last. */
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
    segments: [
      {
        rank: 0,
        column: 'price of the template',
        driving: request.values.owner
          ? heldTemplatesByPrice(request, filters, column, direction)
          : templatesByPrice(request, column, direction),
        share: 1 - UNPRICED,
      },
      assetsWithoutValue('bigint', [sql`NOT ${HAS_PRICE}`], UNPRICED),
    ],
    sorted: { from: assetsWithPrice(request, filters, column), value: raw('p.price') },
  }
}

/** FROM item of a query: the assets `a`, and `p.price`, the price of the template of each asset. */
function assetsWithPrice({ statistics }: AssetRequest, filters: readonly Filter[], column: string): Sql {
  const rows = estimateRows(statistics.rows(ASSETS), filters)
  return sql`assets.assets a LEFT JOIN ${pricesOf('a', rows, column, statistics)}`
}

/**
 * Right side of a join that adds `p.price`, the price of the template of each row. If the rows are few (see LOOKED_UP),
 * the join looks up each price. Otherwise one scan reads all prices. A template has one price for each token in which
 * it was traded. The join uses the token that the market contract lists first.
 * @param alias SQL alias of the rows; the rows have a column `template_id`.
 * @param rows estimated number of the rows.
 */
function pricesOf(alias: string, rows: number, column: string, statistics: Statistics): Sql {
  const from = raw('FROM market.template_prices p JOIN market.tokens y USING (token_symbol)')
  const price = raw(`${column} AS price`)
  const template = raw(`${alias}.template_id`)
  return rows < LOOKED_UP * statistics.rows(PRICES)
    ? sql`LATERAL (${RATES} SELECT ${price} ${from} WHERE p.template_id = ${template} ORDER BY y.place LIMIT 1) p ON true`
    : sql`(${RATES} SELECT p.template_id, ${price}
        FROM (SELECT DISTINCT ON (p.template_id) p.* ${from} ORDER BY p.template_id, y.place) p) p
        ON p.template_id = ${template}`
}

/**
 * Access path: assets in the order of the prices of their templates. The driving table is `templates`, sorted by price.
 */
function templatesByPrice(request: AssetRequest, column: string, direction: 'ASC' | 'DESC'): DrivingTable {
  const { conditions, applied, templates, assets } = templateScope(request)
  const { statistics } = request
  const rowsOfEach = assets / Math.max(1, templates)
  return {
    applied,
    rows: assets,
    // No index orders templates by price, so all matching templates are read and sorted.
    drivingRows: (statistics.rows(PRICES) * templates) / statistics.rows('assets.templates'),
    rowsOfEach,
    query(checks, wanted, budget) {
      const drivingRows = sql`SELECT t.template_id, p.price AS value
        FROM assets.templates t JOIN ${pricesOf('t', templates, column, statistics)} ${where(conditions)} ORDER BY 2 ${raw(direction)}`
      return assetsOfTemplates({ drivingRows, conditions: checks, direction, wanted, budget, rowsOfEach })
    },
  }
}

/**
 * FROM item of a query: the assets `a` that some owners hold of the template `t`, in the order of their ids.
 * @param owned condition that the asset belongs to one of the owners.
 */
const ofHeldTemplate = (owned: Sql): Sql => sql`(SELECT a.* FROM assets.assets a WHERE ${owned}
  AND a.schema_key = t.schema_key AND a.template_id = t.template_id ORDER BY a.asset_id OFFSET 0) a`

/**
 * Access path: assets of some owners in the order of the prices of their templates. The driving rows are the templates
 * of which the owners hold assets. An index-only scan of `assets_held_idx` finds these templates without reading rows
 * of assets. The list then reads assets template by template until the page is full.
 */
function heldTemplatesByPrice(
  { values, statistics }: AssetRequest,
  filters: readonly Filter[],
  column: string,
  direction: 'ASC' | 'DESC',
): DrivingTable {
  const applied = new Set(['owner', ...schemaFilters(values, statistics).map(({ name }) => name)])
  const scope = filters.filter(({ name }) => applied.has(name))
  const assets = estimateRows(statistics.rows(ASSETS), scope)
  const templates = Math.min(assets, statistics.rows(TEMPLATES))
  const rowsOfEach = assets / Math.max(1, templates)
  const from = ofHeldTemplate(isOneOf(raw('a.owner'), values.owner!))
  return {
    applied,
    rows: assets,
    drivingRows: templates,
    rowsOfEach,
    query(checks, wanted, budget) {
      const drivingRows = sql`SELECT t.schema_key, t.template_id, p.price AS value
        FROM (SELECT DISTINCT a.schema_key, a.template_id FROM assets.assets a
          ${where(foundConditions(scope))}) t
        JOIN ${pricesOf('t', templates, column, statistics)} ORDER BY 3 ${raw(direction)}`
      const key = raw('a.asset_id')
      return rowsByDrivingTable({
        drivingRows,
        from,
        key,
        conditions: checks,
        direction,
        wanted,
        budget,
        rowsOfEach,
      })
    },
  }
}
