import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { bind, raw, sql, allOf, joinSql, where } from '../../../sql/index.ts'
import { invalidParameter } from '../../../request/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { warningHeader } from '../../../../core/http/headers/index.ts'
import type { ListingValues } from '../parameters.ts'
import { directionOf } from '../../nft/paging/index.ts'
import { NEVER, nothing } from '../../../planner/filters/index.ts'
import type { Segment, Order } from '../../../planner/sources/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import type { ListingRequest } from './listing-request.ts'
import { ofAnyState, termOf } from './listing-request.ts'
import { ASKED, listingTables } from './listing-table.ts'

/** Bounds of a price, inclusive, in units of the smallest decimal place of the token. Undefined means no bound. */
export interface PriceBounds {
  readonly least: bigint | undefined
  readonly most: bigint | undefined
}

/** Largest price: the largest number in a bigint column, in units of the smallest decimal place of the token. */
const MAX_AMOUNT = 2n ** 63n - 1n
const ZERO = /^-?0+(?:e\d+|\.0+)?$/

/**
 * Reads the parameters `min_price` and `max_price`, which are in whole tokens. `symbol` must name one token. A bound of
 * 0 counts as absent. Returns undefined if the request has no bound, and `never` if the market does not list the token.
 *
 * @throws RequestError 400 if the request has a bound, but names no token or several tokens.
 */
export async function readPriceBounds(
  session: Session,
  values: ListingValues,
): Promise<PriceBounds | 'never' | undefined> {
  const least = boundOf(values.min_price)
  const most = boundOf(values.max_price)
  if (least === undefined && most === undefined) return undefined
  const symbols = values.symbol
  // Clients of the replaced system compare the error messages, so the messages stay unchanged. The header `Warning` of
  // the answer says how to correct the request.
  if (!symbols) {
    const remedy = warningHeader(['add the token of the prices, for example symbol=WAX'])
    throw new RequestError(400, 'Price range filters require the "symbol" filter', remedy)
  }
  if (symbols.length > 1) {
    const remedy = warningHeader([`give one token, for example symbol=${symbols[0]!}`])
    throw new RequestError(400, 'Price range filters require a single symbol, got multiple', remedy)
  }
  const rows = await session.query<[number]>({
    name: 'token-precision',
    text: 'SELECT y.token_precision FROM market.tokens y WHERE y.token_symbol = $1::text',
    values: [symbols[0] ?? ''],
  })
  const row = rows[0]
  if (!row) return 'never'
  return {
    least: least === undefined ? undefined : toUnits('min_price', least, row[0], 'up'),
    most: most === undefined ? undefined : toUnits('max_price', most, row[0], 'down'),
  }
}

function boundOf(text: string | undefined): string | undefined {
  return text === undefined || ZERO.test(text) ? undefined : text
}

/** A number in text: digits, then optionally an exponent or decimals. */
const PARTS = /^(\d+)(?:e(\d+)|\.(\d+))?$/

/**
 * Converts whole tokens to units of the smallest decimal place.
 * @param rounding `up` for a lower bound, `down` for an upper bound.
 */
function toUnits(name: string, text: string, precision: number, rounding: 'up' | 'down'): bigint {
  const parts = PARTS.exec(text)
  if (!parts) throw invalidParameter(name)
  const [, whole, exponent = '0', decimals = ''] = parts
  // A number with more than 40 digits is above every possible price.
  if (exponent.length > 3 || Number(exponent) + whole!.replace(/^0+/, '').length > 40) return MAX_AMOUNT
  const scaled = decimals.padEnd(precision, '0')
  const units = BigInt(whole! + scaled.slice(0, precision)) * 10n ** BigInt(exponent)
  const isExact = /^0*$/.test(scaled.slice(precision))
  const result = rounding === 'up' && !isExact ? units + 1n : units
  return result > MAX_AMOUNT ? MAX_AMOUNT : result
}

/** SQL conditions that keep an expression within the price bounds. */
export function withinBounds(expression: Sql, { least, most }: PriceBounds): Sql[] {
  return [
    ...(least === undefined ? [] : [sql`${expression} >= ${bind(least, 'bigint')}`]),
    ...(most === undefined ? [] : [sql`${expression} <= ${bind(most, 'bigint')}`]),
  ]
}

/** Conversion of listing prices by an oracle: price = listing price * factor / divisor, rounded down. */
export interface Rate {
  readonly listingSymbol: string
  readonly settlementSymbol: string
  /**
   * Factor and divisor by which listing prices are converted. Null if the oracle has no value for the symbol pair;
   * sales of the pair then have no price.
   */
  readonly ratio: { readonly factor: Sql; readonly divisor: Sql } | null
  /** Whether several listing prices can convert to the same price. True if the factor is below the divisor. */
  readonly isCoarse: boolean
}

const RATES = `SELECT r.listing_symbol, r.settlement_symbol, r.factor::text, r.divisor::text, r.factor < r.divisor
      FROM market.rates r`
/**
 * SQL expression of the hash of the symbol pair by which an oracle prices a sale; 0 for a sale that no oracle prices.
 * PostgreSQL uses the index only if the expression equals the indexed expression.
 */
const PRICED_BY = 'market.priced_by(l.price, l.listing_symbol, l.settlement_symbol)'
const ofPair = (condition: string): string =>
  `SELECT l.state, ${PRICED_BY} AS number, l.listing_symbol, l.settlement_symbol FROM market.sales l ${condition}
      ORDER BY l.state, ${PRICED_BY} LIMIT 1`
/** Skip scan: one index probe for each combination of state and symbol pair that the sales have. */
const ALL_PAIRS = `WITH RECURSIVE pairs AS ((${ofPair('')}) UNION ALL
    SELECT n.* FROM pairs p CROSS JOIN LATERAL (${ofPair(`WHERE (l.state, ${PRICED_BY}) > (p.state, p.number)`)}) n)
  ${RATES} UNION ALL SELECT DISTINCT p.listing_symbol, p.settlement_symbol, NULL, NULL, NULL::boolean FROM pairs p
    WHERE p.number <> 0 AND NOT EXISTS (SELECT FROM market.rates r
      WHERE r.listing_symbol = p.listing_symbol AND r.settlement_symbol = p.settlement_symbol)`

/**
 * Reads the oracle rates of symbol pairs whose settlement symbol is one of the given symbols.
 * @param of `market`: symbol pairs with an oracle rate. `sales`: also symbol pairs of existing sales that have no
 * oracle rate.
 */
async function readRates(
  session: Session,
  symbols: readonly string[] | undefined,
  of: 'market' | 'sales',
): Promise<Rate[]> {
  const rows = await session.query<[string, string, string | null, string | null, boolean | null]>({
    name: `rates-of-${of}`,
    text: `${of === 'market' ? RATES : ALL_PAIRS} ORDER BY 1, 2`,
    values: [],
  })
  return rows
    .filter((row) => symbols?.includes(row[1]) !== false)
    .map(([listingSymbol, settlementSymbol, factor, divisor, isCoarse]) => ({
      listingSymbol,
      settlementSymbol,
      ratio:
        factor === null || divisor === null
          ? null
          : { factor: bind(factor, 'numeric'), divisor: bind(divisor, 'numeric') },
      isCoarse: isCoarse === true,
    }))
}

/** SQL of the price of a sale at an oracle rate; NULL without a rate. */
export function priceAt({ ratio }: Rate): Sql {
  if (ratio === null) return raw('NULL::bigint')
  return sql`market.settlement_price(l.listing_price, ${ratio.factor}, ${ratio.divisor})`
}

/**
 * SQL conditions on the listing price of sales. Every sale whose converted price is within the bounds matches. Because
 * the conversion rounds, the conditions leave a margin of at least one unit of the listing price on both sides. The
 * query therefore has to check the converted price as well.
 */
export function listingBounds({ ratio }: Rate, { least, most }: PriceBounds, asked: Sql): Sql[] {
  if (ratio === null) return [raw('FALSE')]
  const listing = (units: bigint, margin: string): Sql =>
    sql`least(floor(${bind(units, 'numeric')} * ${ratio.divisor} / ${ratio.factor}) ${raw(margin)}, ${raw(String(MAX_AMOUNT))})::bigint`
  return [
    ...(least === undefined ? [] : [sql`${asked} >= ${listing(least, '- 1')}`]),
    ...(most === undefined ? [] : [sql`${asked} <= ${listing(most + 1n, '+ 1')}`]),
  ]
}

const { table } = listingTables.sale
/** Condition for sales whose price does not depend on an oracle: market.priced_by returns 0. */
const FIXED = raw(`${PRICED_BY} = 0`)
const HAS_PRICE = raw('l.price IS NOT NULL')

/** Bounds and rates for filtering and sorting sales by price. */
export interface SalePricing {
  /**
   * Price bounds of the request. Undefined if the request has none; `never` if no sale can have a price within the
   * bounds.
   */
  readonly bounds: PriceBounds | 'never' | undefined
  /** The symbol pairs by which an oracle prices the requested sales, with their rates. */
  readonly rates: readonly Rate[]
}

/**
 * Looks up the price bounds and the oracle rates for a request for sales.
 * @param isCompared whether the request sorts sales by price or chooses the cheapest sales, and so needs rates even
 * without price bounds.
 */
export async function readSalePricing(
  session: Session,
  values: ListingValues,
  isCompared: boolean,
): Promise<SalePricing> {
  const bounds = await readPriceBounds(session, values)
  if (bounds === 'never' || (bounds === undefined && !isCompared)) return { bounds, rates: [] }
  // A sale without an oracle rate has no price, so price bounds exclude the sale.
  const rates = await readRates(session, values.symbol, bounds ? 'market' : 'sales')
  return { bounds, rates: bounds ? rates.filter(({ ratio }) => ratio !== null) : rates }
}

/**
 * Index condition for the sales that the oracle prices by the given symbol pair. The index stores a hash of the pair.
 * Different pairs can have the same hash, so `isOfPair` checks the symbols in the row.
 */
function isPricedBy({ listingSymbol, settlementSymbol }: Rate): Sql {
  return sql`${raw(PRICED_BY)} = ${bind(termOf('pair', `${listingSymbol}/${settlementSymbol}`), 'integer')}`
}

/**
 * Conditions for a sale that the oracle prices by the given symbol pair: the row has no fixed price and names both
 * symbols.
 */
function isOfPair({ listingSymbol, settlementSymbol }: Rate): Sql[] {
  return [
    raw('l.price IS NULL'),
    sql`l.listing_symbol = ${bind(listingSymbol, 'text')}`,
    sql`l.settlement_symbol = ${bind(settlementSymbol, 'text')}`,
  ]
}

/** A group of sales with the same price calculation: a fixed price, or the rate of one symbol pair. */
export interface Priced {
  readonly rate?: Rate
  /**
   * Conditions that the index on listing prices serves. For oracle prices, the conditions also accept prices slightly
   * outside the bounds, because the conversion of listing prices rounds.
   */
  readonly conditions: readonly Sql[]
  /** Exact conditions on the symbols and the price. They check each row that `conditions` finds. */
  readonly checks: readonly Sql[]
  readonly price: Sql
  readonly share: number
}

/**
 * Groups of sales by the calculation of the price: one group for fixed prices, and one group for each symbol pair in
 * `rates`. If the request has price bounds, the groups contain only sales with a price within the bounds.
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

/** SQL condition for sales of at least one group: the sale matches all conditions of this group. */
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

/**
 * One segment of the order by price: the sales of a symbol pair whose rate is coarse or missing. A coarse rate converts
 * several listing prices to the same price. Without a rate, no sale of the pair has a price. Sales with equal prices
 * are ordered by id, but the index orders these sales by listing price. All sales of the pair are therefore read and
 * sorted.
 */
function sortedSales(
  request: ListingRequest,
  { conditions, price, share, checks }: Priced,
  direction: 'ASC' | 'DESC',
): Omit<Segment, 'rank'> {
  const { states, statistics } = request
  const rows = statistics.rows(table)
  const ofStates = states ? statistics.equal(table, 'state', states) : rows
  return {
    column: 'price at a rate',
    share,
    driving: {
      applied: new Set(),
      rows,
      drivingRows: 0,
      rowsOfEach: 1,
      least: share * ofStates,
      query: (
        filters,
        wanted,
      ) => sql`SELECT l.sale_id AS k, ${price} AS v FROM ${listingTables.sale.source.from}
        ${where([ofAnyState(request, allOf(conditions)), ...checks, ...filters])}
        ORDER BY v ${raw(direction)}, k LIMIT ${raw(wanted)}`,
    },
  }
}

/**
 * The order of sales by price. Each segment of the order has the sales that are priced alike: without an oracle, or by
 * the oracle rate of one symbol pair. The conditions of a segment include the price bounds of the request, so the list
 * needs no price filter.
 */
export function salePriceOrder(request: ListingRequest, pricing: SalePricing): Order {
  const direction = directionOf(request.values)
  const parts = pricedParts(pricing, request.statistics)
  const cases = parts.map(({ checks, price }) => sql`WHEN ${allOf(checks)} THEN ${price}`)
  return {
    direction,
    segments: parts.map((part): Segment => {
      const { rate, conditions, checks, price, share } = part
      // In the order by price, sales of symbol pairs without an oracle rate come last, because they have no price.
      const rank = rate?.ratio === null ? 1 : 0
      if (rate && (rate.isCoarse || rate.ratio === null))
        return { rank, ...sortedSales(request, part, direction) }
      return {
        rank,
        column: 'asked',
        expression: ASKED,
        // For fixed prices, the sort value is the indexed value. For oracle prices, the sort value is computed from the
        // indexed listing price.
        ...(rate ? { value: price } : {}),
        conditions: [...conditions, ...checks],
        share,
      }
    }),
    sorted: {
      from: sql`(SELECT l.* FROM ${listingTables.sale.source.from}
        WHERE ${anyOf(parts.map(({ checks }) => checks))}) l`,
      value: sql`CASE ${joinSql(cases, ' ')} END`,
    },
  }
}
