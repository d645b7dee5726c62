import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { bind, raw, sql } from '../../../sql/index.ts'
import { invalidParameter } from '../../../request/index.ts'
import { RequestError } from '../../../../core/http/index.ts'
import { warningHeader } from '../../../../core/http/headers/index.ts'
import type { ListingValues } from '../parameters.ts'

/** Bounds of a price in units of the smallest decimal place, inclusive; undefined = none. */
export interface PriceBounds {
  readonly least: bigint | undefined
  readonly most: bigint | undefined
}

/** Largest amount of a token. */
const MAX_AMOUNT = 2n ** 63n - 1n
const ZERO = /^-?0+(?:e\d+|\.0+)?$/

/**
 * Reads `min_price` and `max_price`, in whole tokens of the one required `symbol`. A bound of 0 is no bound. Undefined
 * without bounds, `never` if the market does not have the token.
 *
 * @throws RequestError 400 without a symbol or with several.
 */
export async function readPriceBounds(
  session: Session,
  values: ListingValues,
): Promise<PriceBounds | 'never' | undefined> {
  const least = boundOf(values.min_price)
  const most = boundOf(values.max_price)
  if (least === undefined && most === undefined) return undefined
  const symbols = values.symbol
  // Clients compare the messages with those of the replaced system, so a header carries the advice.
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

/** Digits, then an exponent or decimals. */
const PARTS = /^(\d+)(?:e(\d+)|\.(\d+))?$/

/** Converts whole tokens to units of the smallest decimal place. Rounds up a lower bound and down an upper bound. */
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

/** Conditions that an expression is within bounds. */
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
  /** Null if the oracle has no value; sales of the pair then have no price. */
  readonly ratio: { readonly factor: Sql; readonly divisor: Sql } | null
  /** Different listing prices may become the same price. */
  readonly isCoarse: boolean
}

const RATES = `SELECT r.listing_symbol, r.settlement_symbol, r.factor::text, r.divisor::text, r.factor < r.divisor
      FROM market.rates r`
/** Hash of the symbol pair that prices a sale, as the expression of the index. */
export const PRICED_BY = 'market.priced_by(l.price, l.listing_symbol, l.settlement_symbol)'
const ofPair = (condition: string): string =>
  `SELECT l.state, ${PRICED_BY} AS number, l.listing_symbol, l.settlement_symbol FROM market.sales l ${condition}
      ORDER BY l.state, ${PRICED_BY} LIMIT 1`
/** Skip scan: one index probe for each pair of state and symbol pair among the sales. */
const ALL_PAIRS = `WITH RECURSIVE pairs AS ((${ofPair('')}) UNION ALL
    SELECT n.* FROM pairs p CROSS JOIN LATERAL (${ofPair(`WHERE (l.state, ${PRICED_BY}) > (p.state, p.number)`)}) n)
  ${RATES} UNION ALL SELECT DISTINCT p.listing_symbol, p.settlement_symbol, NULL, NULL, NULL::boolean FROM pairs p
    WHERE p.number <> 0 AND NOT EXISTS (SELECT FROM market.rates r
      WHERE r.listing_symbol = p.listing_symbol AND r.settlement_symbol = p.settlement_symbol)`

/**
 * The rates of the symbol pairs that settle in one of the given symbols.
 * @param of `market`: pairs with an oracle rate. `sales`: in addition pairs of existing sales without a rate.
 */
export async function readRates(
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

/** SQL of the price of a sale at a rate; NULL without a rate. */
export function priceAt({ ratio }: Rate): Sql {
  if (ratio === null) return raw('NULL::bigint')
  return sql`market.settlement_price(l.listing_price, ${ratio.factor}, ${ratio.divisor})`
}

/**
 * Bounds of listing prices that convert to a price within bounds. They are slightly too wide because of rounding, so
 * the price has to be checked again.
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
