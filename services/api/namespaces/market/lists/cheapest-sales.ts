import { without } from '../../../../core/endpoint/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { allOf, bind, joinSql, raw, sql, where } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import { choosePath } from '../../../planner/index.ts'
import { estimateRows, foundConditions } from '../../../planner/filters/index.ts'
import { isOneOf } from '../../nft/conditions/index.ts'
import { TEMPLATE_DATA } from '../../nft/filters/index.ts'
import { templateScope } from '../../nft/asset-lists/index.ts'
import { directionOf, pageWindow } from '../../nft/paging/index.ts'
import type { PageWindow } from '../../../planner/sources/index.ts'
import type { SalePricing } from './prices.ts'
import { anyOf, pricedParts, readSalePricing, listingBounds, priceAt, withinBounds } from './prices.ts'
import { LISTED, listingTables } from './listing-table.ts'
import { listingFilters } from './listing-list.ts'
import { stateFilters } from './row-filters.ts'
import { withoutCommon } from './listing-request.ts'
import type { MarketSetup } from '../setup.ts'
import type { CheapestValues } from '../parameters.ts'

const { table, source } = listingTables.sale

/** Only sales of one asset have a template. */
const ofTemplates = [raw(`l.state = ${LISTED}`), raw('l.template_id IS NOT NULL')]
/** Cost of finding the cheapest sale of one template, relative to the cost of reading one sale. */
const LOOKUP_COST = 2

/**
 * Chooses how to find the cheapest sales: by a lookup for each template, or by one scan of all matching sales. The
 * arguments are the estimated costs of both methods. The unit is the cost of reading one sale.
 */
export type ChooseCheapest = (byTemplate: number, ofAll: number) => 'by template' | 'of all'

/**
 * The ids of the cheapest listed sale of each requested template. Only sales of one asset count. If several sales have
 * the same price, the latest sale wins. The row estimate decides between a lookup for each template and one scan of all
 * matching sales.
 */
export async function selectCheapest(
  context: EndpointContext<CheapestValues>,
  setup: Pick<MarketSetup, 'trigrams' | 'lists'>,
  choose: ChooseCheapest = (visits, collected) => (visits < collected ? 'by template' : 'of all'),
): Promise<string[]> {
  const { session, values } = context
  const window = pageWindow(values)
  // A burned asset cannot be for sale.
  if (values.burner !== undefined || values.burned === true) return []
  const flags = (['transferable', 'burnable'] as const).filter(
    (flag) => values[`is_${flag}` as const] === true,
  )
  // Some filters on assets are replaced by cheaper filters or dropped:
  // - `owner`: a filter on the seller, because the seller of an open sale owns the asset.
  // - `is_transferable` and `is_burnable`: conditions on the template, which stores the flags for all its assets.
  // - `burned`: no filter, because no burned asset is for sale.
  const asked = without(values, ['owner', 'burned', ...flags.map((flag) => `is_${flag}` as const)])
  const query = { kind: 'sale', standard: [LISTED] } as const
  const { request, filters } = await listingFilters({ ...context, values: asked }, setup, query)
  const owners = values.owner
  const sellers = owners ? [sellerFilter(owners, request.statistics.equal(table, 'seller', owners))] : []
  const pricing = await readSalePricing(session, asked, true)
  const scope = templateScope({ ...request, values: without(asked, ['match', 'search']) })
  const unset = flags.map((flag) => raw(`t.${flag}`))
  const all = withoutCommon(
    [...stateFilters(request), ...sellers, ...filters],
    request.statistics.rows(table),
  )
  const rows = request.statistics.rows(table)
  // No index of sales is ordered by template and price. `choosePath` therefore gets a source without indexes, and
  // estimates the cost of reading and sorting all matching sales.
  const order = { direction: 'ASC', segments: [{ rank: 0, column: '' }] } as const
  const collected = choosePath({
    source: { ...listingTables.sale.source, indexes: [] },
    rows,
    filters: all,
    order,
    window,
  }).expected
  const matching = Math.max(1, estimateRows(rows, all))
  const ofScope = estimateRows(
    rows,
    all.filter(({ name }) => name === 'state' || isOfScope(name)),
  )
  const visits = scope.templates * (LOOKUP_COST + ofScope / matching)
  const found =
    choose(visits, collected) === 'by template'
      ? byTemplate([...scope.conditions, ...unset], all, pricing, asked)
      : ofAll(unset, all, pricing, request.statistics)
  const ids = await session.query<[string]>(pageOf(found, values, window).render())
  return ids.map(([id]) => id)
}

/**
 * Whether the filter with this name selects templates. The cost estimate for a lookup by template counts the open sales
 * of the selected templates.
 */
function isOfScope(name: string): boolean {
  return ['collection', 'schema_name', 'template_id', TEMPLATE_DATA].includes(name)
}

function sellerFilter(owners: readonly string[], rows: number): Filter {
  const equals = { column: 'seller', values: owners, type: 'text', count: owners.length }
  return { name: 'owner', condition: isOneOf(raw('l.seller'), owners), rows, equals, isIndexed: true }
}

/**
 * Query with the columns `template_id`, `sale_id` and `price`. One scan reads all matching sales; DISTINCT ON keeps the
 * cheapest sale of each template.
 */
function ofAll(
  unset: readonly Sql[],
  filters: readonly Filter[],
  pricing: SalePricing,
  statistics: Parameters<typeof pricedParts>[1],
): Sql {
  const parts = pricedParts(pricing, statistics)
  const price = joinSql(
    parts.map(({ checks, price: value }) => sql`WHEN ${allOf(checks)} THEN ${value}`),
    ' ',
  )
  const flags =
    unset.length === 0
      ? []
      : [
          sql`EXISTS (SELECT FROM assets.templates t ${where([raw('t.template_id = l.template_id'), ...unset])})`,
        ]
  const priced = anyOf(parts.map(({ checks }) => checks))
  return sql`SELECT DISTINCT ON (r.template_id) r.* FROM (SELECT l.template_id, l.sale_id, CASE ${price} END AS price
      FROM ${source.from} ${where([...ofTemplates, ...foundConditions(filters), priced, ...flags])} OFFSET 0) r
    ORDER BY r.template_id, r.price, r.sale_id DESC`
}

/**
 * Query with the columns `template_id`, `sale_id` and `price`. A LATERAL subquery looks up the cheapest matching sale
 * of each template.
 */
function byTemplate(
  templates: readonly Sql[],
  filters: readonly Filter[],
  pricing: SalePricing,
  values: CheapestValues,
): Sql {
  const checks = [...ofTemplates, ...filters.map(({ condition }) => condition)]
  const first = askedParts(pricing, values.symbol ?? []).map(
    ({ conditions, price, order }) => sql`(SELECT l.sale_id, ${price} AS price FROM market.sales l
      ${where([raw('l.template_id = t.template_id'), ...conditions, ...checks])} ORDER BY ${order} LIMIT 1)`,
  )
  return sql`SELECT t.template_id, c.sale_id, c.price FROM assets.templates t CROSS JOIN LATERAL (
      SELECT x.sale_id, x.price FROM (${joinSql(first, ' UNION ALL ')}) x ORDER BY x.price, x.sale_id DESC LIMIT 1) c
    ${where(templates)}`
}

/**
 * The parts of the UNION ALL that looks up the cheapest sale of a template. `order` sorts the sales of a part by price.
 * There are two kinds of parts:
 * - for each requested token, the sales that are listed and paid in this token;
 * - for each symbol pair in `rates`, the sales that the oracle prices by this pair.
 */
function askedParts(
  { bounds, rates }: SalePricing,
  symbols: readonly string[],
): { conditions: Sql[]; price: Sql; order: Sql }[] {
  const asked = raw('l.listing_price')
  if (bounds === 'never') return [{ conditions: [raw('FALSE')], price: asked, order: asked }]
  const ofPair = (listing: string, settlement: string): Sql[] => [
    sql`l.settlement_symbol = ${bind(settlement, 'text')}`,
    sql`l.listing_symbol = ${bind(listing, 'text')}`,
  ]
  const order = sql`${asked}, l.sale_id DESC`
  return [
    ...symbols.map((symbol) => ({
      conditions: [...ofPair(symbol, symbol), ...(bounds ? withinBounds(asked, bounds) : [])],
      price: asked,
      order,
    })),
    ...rates.map((rate) => {
      const price = priceAt(rate)
      const within = bounds ? [...withinBounds(price, bounds), ...listingBounds(rate, bounds, asked)] : []
      return {
        conditions: [...ofPair(rate.listingSymbol, rate.settlementSymbol), ...within],
        price,
        // A coarse rate converts several listing prices to the same price. Of sales with the same price, the latest
        // sale must come first, but the index returns the sale with the lowest listing price first. Sales of a pair
        // without a rate have no price.
        order: rate.isCoarse || rate.ratio === null ? sql`${price}, l.sale_id DESC` : order,
      }
    }),
  ]
}

function pageOf(found: Sql, values: CheapestValues, { limit, offset }: PageWindow): Sql {
  const direction = raw(directionOf(values))
  const order =
    values.sort === 'price'
      ? sql`c.price ${direction} NULLS LAST, c.template_id`
      : sql`c.template_id ${direction}`
  return sql`SELECT c.sale_id::text FROM (${found}) c ORDER BY ${order} LIMIT ${raw(limit)} OFFSET ${raw(offset)}`
}
