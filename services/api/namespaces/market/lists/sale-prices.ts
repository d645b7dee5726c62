import type { Session, Sql } from '../../../database/index.ts'
import { bind, joinSql, raw, sql } from '../../../database/index.ts'
import type { Branch, Filter, Order, Statistics } from '../../../lists/index.ts'
import type { ListingRequest } from './listing-request.ts'
import { allOf, NEVER, nothing, ofAnyState } from './listing-request.ts'
import { ASKED, listingTables } from './listing-table.ts'
import type { PriceBounds, Rate } from './price-bounds.ts'
import { boundsAtRate, priceAt, readPriceBounds, readRates, withinBounds } from './price-bounds.ts'
import { termOf } from './terms.ts'

const { table } = listingTables.sale
const PRICED_BY = raw('market.priced_by(l.price, l.listing_symbol, l.settlement_symbol)')
/** The price is known for good; see market.priced_by. */
const FIXED = [sql`${PRICED_BY} = 0`, raw('l.price IS NOT NULL')]

/** What prices of sales are compared and sorted by. */
export interface SalePricing {
  /** Undefined without bounds; `never` when no price can be within them. */
  readonly bounds: PriceBounds | 'never' | undefined
  /** The pairs that can price what a request asks for. */
  readonly rates: readonly Rate[]
}

/** Looks up what a request for sales needs to know of prices. @param isCompared prices are compared with each other. */
export async function readSalePricing(
  session: Session,
  { values }: Pick<ListingRequest, 'values'>,
  isCompared: boolean,
): Promise<SalePricing> {
  const bounds = await readPriceBounds(session, values)
  if (bounds === 'never' || (bounds === undefined && !isCompared)) return { bounds, rates: [] }
  const rates = await readRates(session, values.texts('symbol'))
  return { bounds, rates: bounds ? rates.filter(({ ratio }) => ratio !== null) : rates }
}

/** The sale is priced by this pair. */
function pricedBy({ listingSymbol, settlementSymbol }: Rate): Sql[] {
  return [
    sql`${PRICED_BY} = ${bind(termOf('pair', `${listingSymbol}/${settlementSymbol}`), 'integer')}`,
    raw('l.price IS NULL'),
    sql`l.listing_symbol = ${bind(listingSymbol, 'text')}`,
    sql`l.settlement_symbol = ${bind(settlementSymbol, 'text')}`,
  ]
}

/** A part of the sales with a price. */
interface Priced {
  readonly rate?: Rate
  readonly conditions: readonly Sql[]
  readonly price: Sql
  readonly share: number
}

/** The sales with a price within bounds: those that have one for good, and for each symbol pair those that the oracle prices. */
function partsOf({ bounds, rates }: SalePricing, statistics: Statistics): Priced[] {
  if (bounds === 'never') return [{ conditions: [NEVER], price: raw('l.price'), share: 0 }]
  const all = statistics.rows(table)
  const none = statistics.equal(table, 'price', [null]) / all
  const within = bounds ? statistics.between(table, 'price', bounds.least, bounds.most) / all : 1 - none
  // What index of the asked price begins with is fixed: its bounds are those of an index.
  const fixed = { price: raw('l.price'), share: within }
  return [
    { ...fixed, conditions: [...FIXED, ...(bounds ? withinBounds(ASKED, bounds) : [])] },
    ...rates.map((rate) => ({
      rate,
      conditions: [...pricedBy(rate), ...(bounds ? boundsAtRate(rate, bounds, ASKED) : [])],
      price: priceAt(rate),
      share: (none / rates.length) * Math.min(1, within / (1 - none)),
    })),
  ]
}

function anyOf(parts: readonly Priced[]): Sql {
  return sql`(${joinSql(
    parts.map(({ conditions }) => sql`(${allOf(conditions)})`),
    ' OR ',
  )})`
}

/** The filter of `min_price` and `max_price` under any other sort. */
export function salePriceFilters(request: ListingRequest, pricing: SalePricing): Filter[] {
  const { bounds } = pricing
  if (bounds === undefined) return []
  if (bounds === 'never') return [nothing('price')]
  const parts = partsOf(pricing, request.statistics)
  const condition = anyOf(parts)
  const share = parts.reduce((sum, part) => sum + part.share, 0)
  return [
    {
      name: 'price',
      condition,
      found: ofAnyState(request, condition),
      rows: share * request.statistics.rows(table),
      isIndexed: true,
    },
  ]
}

/** The order of prices. Bounds on them are part of it; sales without any price are left out. */
export function salePriceOrder(
  direction: 'ASC' | 'DESC',
  pricing: SalePricing,
  statistics: Statistics,
): Order {
  const parts = partsOf(pricing, statistics)
  const cases = parts.map(({ conditions, price }) => sql`WHEN ${allOf(conditions)} THEN ${price}`)
  return {
    direction,
    branches: parts.map(({ rate, conditions, price, share }): Branch => ({
      // What an oracle has no rate for comes last.
      rank: rate?.ratio === null ? 1 : 0,
      column: 'asked',
      expression: ASKED,
      value: price,
      conditions,
      share,
      ...(rate && (rate.isCoarse || rate.ratio === null) ? { isCoarse: true } : {}),
    })),
    sorted: {
      from: sql`(SELECT l.* FROM ${listingTables.sale.source.from} WHERE ${anyOf(parts)}) l`,
      value: sql`CASE ${joinSql(cases, ' ')} END`,
    },
  }
}
