import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { allOf, bind, joinSql, raw, sql } from '../../../sql/index.ts'
import { NEVER, nothing } from '../../../planner/filters/index.ts'
import type { Branch, Order } from '../../../planner/sources/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import type { ListingRequest } from './listing-request.ts'
import { ofAnyState } from './listing-request.ts'
import { ASKED, listingTables } from './listing-table.ts'
import type { PriceBounds, Rate } from './price-bounds.ts'
import {
  listingBounds,
  priceAt,
  PRICED_BY,
  readPriceBounds,
  readRates,
  withinBounds,
} from './price-bounds.ts'
import { termOf } from './terms.ts'
import type { ListingValues } from '../parameters.ts'

const { table } = listingTables.sale
/** Condition: the sale has a price that no oracle changes; see market.priced_by. */
const FIXED = raw(`${PRICED_BY} = 0`)
const HAS_PRICE = raw('l.price IS NOT NULL')

/** Bounds and rates that the prices of sales are filtered and sorted by. */
export interface SalePricing {
  /** Undefined without bounds; `never` when no price can be within them. */
  readonly bounds: PriceBounds | 'never' | undefined
  /** The symbol pairs that can price the requested sales. */
  readonly rates: readonly Rate[]
}

/**
 * Looks up the bounds and rates of a request for sales.
 * @param isCompared whether the request compares prices with each other.
 */
export async function readSalePricing(
  session: Session,
  values: ListingValues,
  isCompared: boolean,
): Promise<SalePricing> {
  const bounds = await readPriceBounds(session, values)
  if (bounds === 'never' || (bounds === undefined && !isCompared)) return { bounds, rates: [] }
  // A sale without a rate has no price, so bounds exclude it.
  const rates = await readRates(session, values.symbol, bounds ? 'market' : 'sales')
  return { bounds, rates: bounds ? rates.filter(({ ratio }) => ratio !== null) : rates }
}

/** Index condition: the sale is priced by this pair. Hashes of pairs collide; see isOfPair. */
function isPricedBy({ listingSymbol, settlementSymbol }: Rate): Sql {
  return sql`${raw(PRICED_BY)} = ${bind(termOf('pair', `${listingSymbol}/${settlementSymbol}`), 'integer')}`
}

/** Exact check that the sale is priced by this pair. */
function isOfPair({ listingSymbol, settlementSymbol }: Rate): Sql[] {
  return [
    raw('l.price IS NULL'),
    sql`l.listing_symbol = ${bind(listingSymbol, 'text')}`,
    sql`l.settlement_symbol = ${bind(settlementSymbol, 'text')}`,
  ]
}

/** Sales that share one way to a price: a fixed price, or the rate of one symbol pair. */
export interface Priced {
  readonly rate?: Rate
  /** Conditions that the index on listing prices serves. */
  readonly conditions: readonly Sql[]
  /** Exact conditions; the index conditions may let other sales pass. */
  readonly checks: readonly Sql[]
  readonly price: Sql
  readonly share: number
}

/**
 * Groups of sales with a price within bounds: fixed prices, and one group for each symbol pair that the oracle prices.
 * Without bounds all sales.
 */
export function pricedParts({ bounds, rates }: SalePricing, statistics: Statistics): Priced[] {
  if (bounds === 'never') return [{ conditions: [], checks: [NEVER], price: raw('l.price'), share: 0 }]
  const all = statistics.rows(table)
  const none = statistics.equal(table, 'price', [null]) / all
  const within = bounds ? statistics.between(table, 'price', bounds.least, bounds.most) / all : 1 - none
  const price = raw('l.price')
  return [
    {
      conditions: [FIXED, ...(bounds ? withinBounds(ASKED, bounds) : [])],
      checks: [HAS_PRICE, ...(bounds ? withinBounds(price, bounds) : [])],
      price,
      share: within,
    },
    ...rates.map((rate) => ({
      rate,
      conditions: [isPricedBy(rate), ...(bounds ? listingBounds(rate, bounds, ASKED) : [])],
      checks: [...isOfPair(rate), ...(bounds ? withinBounds(priceAt(rate), bounds) : [])],
      price: priceAt(rate),
      share: (none / rates.length) * Math.min(1, within / (1 - none)),
    })),
  ]
}

/** Condition: the sale belongs to one of the groups. */
export function anyOf(parts: readonly (readonly Sql[])[]): Sql {
  return sql`(${joinSql(
    parts.map((conditions) => sql`(${allOf(conditions)})`),
    ' OR ',
  )})`
}

/** The filter of `min_price` and `max_price` for a list that is not sorted by price. */
export function salePriceFilters(request: ListingRequest, pricing: SalePricing): Filter[] {
  const { bounds } = pricing
  if (bounds === undefined) return []
  if (bounds === 'never') return [nothing('price')]
  const parts = pricedParts(pricing, request.statistics)
  const found = anyOf(parts.map(({ conditions, checks }) => [...conditions, ...checks]))
  const share = parts.reduce((sum, part) => sum + part.share, 0)
  return [
    {
      name: 'price',
      condition: anyOf(parts.map(({ checks }) => checks)),
      found: ofAnyState(request, found),
      rows: share * request.statistics.rows(table),
      isIndexed: true,
    },
  ]
}

/** The order by price; the price bounds are conditions of its segments. */
export function salePriceOrder(
  direction: 'ASC' | 'DESC',
  pricing: SalePricing,
  statistics: Statistics,
): Order {
  const parts = pricedParts(pricing, statistics)
  const cases = parts.map(({ checks, price }) => sql`WHEN ${allOf(checks)} THEN ${price}`)
  return {
    direction,
    branches: parts.map(({ rate, conditions, checks, price, share }): Branch => ({
      // Pairs without an oracle rate come last.
      rank: rate?.ratio === null ? 1 : 0,
      column: 'asked',
      expression: ASKED,
      // The index stores a fixed price itself; a converted price is computed.
      ...(rate ? { value: price } : {}),
      conditions: [...conditions, ...checks],
      share,
      ...(rate && (rate.isCoarse || rate.ratio === null) ? { isCoarse: true } : {}),
    })),
    sorted: {
      from: sql`(SELECT l.* FROM ${listingTables.sale.source.from}
        WHERE ${anyOf(parts.map(({ checks }) => checks))}) l`,
      value: sql`CASE ${joinSql(cases, ' ')} END`,
    },
  }
}
