import type { Bindings, Session } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { NEVER } from '../../assets/index.ts'
import type { Branch } from './branches.ts'
import { NO_VALUE } from './branches.ts'
import type { PriceBounds, Rate } from './price-filter.ts'
import {
  columnBounds,
  listingWithin,
  ofPair,
  priceAt,
  pricedBy,
  rateBounds,
  readPriceBounds,
  readRates,
} from './price-filter.ts'

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
  values: Values,
  isCompared: boolean,
): Promise<SalePricing> {
  const bounds = await readPriceBounds(session, values)
  const isNeeded = bounds !== 'never' && (bounds !== undefined || isCompared)
  return { bounds, rates: isNeeded ? await usableRates(session, values, bounds) : [] }
}

/**
 * The branches of sales sorted by price: those with a price of their own, and for each symbol pair those that the
 * oracle prices, whose price grows with the listing price. Bounds on the price are part of them.
 */
export function salePriceBranches({ bounds, rates }: SalePricing, bindings: Bindings): readonly Branch[] {
  if (bounds === 'never') return [{ conditions: [NEVER], value: 'l.price', order: ['l.price'] }]
  const fixed: Branch = {
    conditions: ['l.price IS NOT NULL', ...columnBounds('l.price', bounds, bindings)],
    value: 'l.price',
    order: ['l.price'],
  }
  return [fixed, ...rates.map((rate) => rateBranch(rate, pricedBy(rate, bindings), bounds, bindings))]
}

/** The same of listed sales, in terms of what is asked for them: settled in one of some symbols. */
export function listedPriceBranches(
  { bounds, rates }: SalePricing,
  symbols: readonly string[],
  bindings: Bindings,
): readonly Branch[] {
  const value = 'l.listing_price'
  if (bounds === 'never') return [{ conditions: [NEVER], value, order: [value] }]
  const plain = symbols.map((symbol) => {
    const code = bindings.bind(symbol, 'text')
    const ofSymbol = [`l.settlement_symbol = ${code}`, `l.listing_symbol = ${code}`]
    return { conditions: [...ofSymbol, ...columnBounds(value, bounds, bindings)], value, order: [value] }
  })
  return [...plain, ...rates.map((rate) => rateBranch(rate, ofPair(rate, bindings), bounds, bindings))]
}

function rateBranch(
  rate: Rate,
  priced: readonly string[],
  bounds: PriceBounds | undefined,
  bindings: Bindings,
): Branch {
  const conditions = [...priced, ...rateBounds(rate, bounds, bindings)]
  if (rate.factor === null) return { conditions, value: NO_VALUE, order: [] }
  const value = priceAt(rate, bindings)
  // Where several listing prices make one price, ties would be broken by them instead of by the id.
  const order = [rate.isCoarse ? value : 'l.listing_price']
  const within = (limit: string, direction: 'ASC' | 'DESC') => listingWithin(rate, limit, direction, bindings)
  return { conditions, value, order, within }
}

/** The condition of `min_price` and `max_price` under any other sort. */
export function salePriceCondition({ bounds, rates }: SalePricing, bindings: Bindings): string[] {
  if (!bounds) return []
  if (bounds === 'never') return [NEVER]
  const ways = [columnBounds('l.price', bounds, bindings).join(' AND ')]
  for (const rate of rates) {
    ways.push([...pricedBy(rate, bindings), ...rateBounds(rate, bounds, bindings)].join(' AND '))
  }
  return [`((${ways.join(') OR (')}))`]
}

/** The pairs that can price what a request asks for. */
async function usableRates(
  session: Session,
  values: Values,
  bounds: PriceBounds | undefined,
): Promise<Rate[]> {
  const symbols = values.texts('symbol')
  const rates = await readRates(session)
  return rates.filter(
    ({ settlementSymbol, factor }) =>
      symbols?.includes(settlementSymbol) !== false && (bounds === undefined || factor !== null),
  )
}
