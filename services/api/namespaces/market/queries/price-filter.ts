import type { Bindings, Session } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { invalidParameter, RequestError } from '../../../endpoint/index.ts'
import { NEVER } from '../../assets/index.ts'

/** Bounds of a price in units of the smallest decimal place, inclusive; undefined = none. */
export interface PriceBounds {
  readonly symbol: string
  readonly least: bigint | undefined
  readonly most: bigint | undefined
}

/** What an oracle makes of listing prices in one symbol: price = listing price * factor / divisor, rounded down. */
export interface Rate {
  readonly listingSymbol: string
  readonly settlementSymbol: string
  /** Decimal texts; null while the oracle has no value, which gives no price. */
  readonly factor: string | null
  readonly divisor: string | null
  /** Different listing prices may become the same price. */
  readonly isCoarse: boolean
}

/** Greatest number that a price can be. */
const MAX_AMOUNT = 2n ** 63n - 1n
const ZERO = /^-?0+(?:e\d+)?(?:\.0+)?$/

/**
 * Reads `min_price` and `max_price`, which are in whole tokens of the one symbol that must be given. A bound of 0 is
 * none. Undefined when there is no bound.
 *
 * @throws RequestError 400 without a symbol or with several.
 */
export async function readPriceBounds(
  session: Session,
  values: Values,
): Promise<PriceBounds | 'never' | undefined> {
  const least = boundOf(values.text('min_price'))
  const most = boundOf(values.text('max_price'))
  if (least === undefined && most === undefined) return undefined
  const symbols = values.texts('symbol')
  if (!symbols) throw new RequestError(400, 'Price range filters require the "symbol" filter')
  if (symbols.length > 1) {
    throw new RequestError(400, 'Price range filters require a single symbol, got multiple')
  }
  const rows = await session.query<[number]>({
    name: 'token-precision',
    text: 'SELECT y.token_precision FROM market.tokens y WHERE y.token_symbol = $1::text',
    values: [symbols[0] ?? ''],
  })
  const row = rows[0]
  if (!row) return 'never'
  return {
    symbol: symbols[0]!,
    least: least === undefined ? undefined : toUnits('min_price', least, row[0], 'up'),
    most: most === undefined ? undefined : toUnits('max_price', most, row[0], 'down'),
  }
}

function boundOf(text: string | undefined): string | undefined {
  return text === undefined || ZERO.test(text) ? undefined : text
}

/** Digits, an exponent of them, decimals: `1e3.5` is 1000, as clients have always been answered. */
const PARTS = /^(\d+)(?:e(\d+)(?:\.\d+)?|\.(\d+))?$/

/** An amount of whole tokens in units of the smallest decimal place, rounded towards what satisfies the bound. */
function toUnits(name: string, text: string, precision: number, rounding: 'up' | 'down'): bigint {
  const parts = PARTS.exec(text)
  if (!parts) throw invalidParameter(name)
  const [, whole, exponent = '0', decimals = ''] = parts
  // No amount has more digits: such a number is beyond every price.
  if (exponent.length > 3 || Number(exponent) + whole!.replace(/^0+/, '').length > 40) return MAX_AMOUNT
  const scaled = decimals.padEnd(precision, '0')
  const units = BigInt(whole! + scaled.slice(0, precision)) * 10n ** BigInt(exponent)
  const isExact = /^0*$/.test(scaled.slice(precision))
  const result = rounding === 'up' && !isExact ? units + 1n : units
  return result > MAX_AMOUNT ? MAX_AMOUNT : result
}

/** The conditions of bounds on a price that is a column. */
export function columnBounds(column: string, bounds: PriceBounds | undefined, bindings: Bindings): string[] {
  if (!bounds) return []
  return [
    ...(bounds.least === undefined ? [] : [`${column} >= ${bindings.bind(bounds.least, 'bigint')}`]),
    ...(bounds.most === undefined ? [] : [`${column} <= ${bindings.bind(bounds.most, 'bigint')}`]),
  ]
}

/** `min_price` and `max_price` where the price is a column of the row. */
export function plainPriceConditions(
  bounds: PriceBounds | 'never' | undefined,
  bindings: Bindings,
): string[] {
  return bounds === 'never' ? [NEVER] : columnBounds('l.price', bounds, bindings)
}

/** The rates of all symbol pairs of the market. */
export async function readRates(session: Session): Promise<Rate[]> {
  const rows = await session.query<[string, string, string | null, string | null, boolean | null]>({
    name: 'rates',
    text: `SELECT r.listing_symbol, r.settlement_symbol, r.factor::text, r.divisor::text, r.factor < r.divisor
      FROM market.rates r ORDER BY r.listing_symbol, r.settlement_symbol`,
    values: [],
  })
  return rows.map(([listingSymbol, settlementSymbol, factor, divisor, isCoarse]) => ({
    listingSymbol,
    settlementSymbol,
    factor,
    divisor: factor === null ? null : divisor,
    isCoarse: isCoarse === true,
  }))
}

/** The price of a sale at a rate; null without a rate. */
export function priceAt({ factor, divisor }: Rate, bindings: Bindings): string {
  if (factor === null || divisor === null) return 'NULL::bigint'
  return `market.settlement_price(l.listing_price, ${bindings.bind(factor, 'numeric')}, ${bindings.bind(divisor, 'numeric')})`
}

/** The sale is priced by this pair. */
export function pricedBy(rate: Rate, bindings: Bindings): string[] {
  return ['l.price IS NULL', ...ofPair(rate, bindings)]
}

/** The sale is listed and settled in the symbols of this pair. */
export function ofPair(rate: Rate, bindings: Bindings): string[] {
  return [
    `l.listing_symbol = ${bindings.bind(rate.listingSymbol, 'text')}`,
    `l.settlement_symbol = ${bindings.bind(rate.settlementSymbol, 'text')}`,
  ]
}

/** Bounds on the price at a rate: exact, with wider bounds beside them that an index serves. */
export function rateBounds(rate: Rate, bounds: PriceBounds | undefined, bindings: Bindings): string[] {
  if (!bounds) return []
  const { factor, divisor } = rate
  if (factor === null || divisor === null) return [NEVER]
  const conditions = columnBounds(priceAt(rate, bindings), bounds, bindings)
  const listing = (units: bigint, margin: string): string =>
    `least(floor(${bindings.bind(units, 'numeric')} * ${bindings.bind(divisor, 'numeric')} / ` +
    `${bindings.bind(factor, 'numeric')}) ${margin}, 9223372036854775807)::bigint`
  if (bounds.least !== undefined) conditions.push(`l.listing_price >= ${listing(bounds.least, '- 1')}`)
  if (bounds.most !== undefined) conditions.push(`l.listing_price <= ${listing(bounds.most + 1n, '+ 1')}`)
  return conditions
}

/** What the listing prices of all sales meet whose price is not beyond a limit, an expression; it may be null for none. */
export function listingWithin(
  { factor, divisor }: Rate,
  limit: string,
  direction: 'ASC' | 'DESC',
  bindings: Bindings,
): string {
  if (factor === null || divisor === null) return 'TRUE'
  const ratio = `${bindings.bind(divisor, 'numeric')} / ${bindings.bind(factor, 'numeric')}`
  return direction === 'ASC'
    ? `l.listing_price <= coalesce(least(floor((${limit} + 1) * ${ratio}) + 1, ${MAX_AMOUNT}), ${MAX_AMOUNT})::bigint`
    : `l.listing_price >= coalesce(floor(${limit} * ${ratio}) - 1, 0)::bigint`
}
