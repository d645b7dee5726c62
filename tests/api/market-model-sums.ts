import type { MarketModel, ModelListing } from './market-model.ts'

/** A completed purchase in the model of the market. */
export interface ModelTrade {
  readonly kind: number
  readonly id: bigint
  readonly time: number
  readonly price: bigint
  readonly symbol: string
  readonly seller: string
  readonly buyer: string
  readonly maker: string
  readonly taker: string
  readonly collection: string
  /** Template of the asset, if a single asset with a template was sold. */
  readonly template: number | undefined
}

const DAY_MS = 86_400_000
const RECENT_MS = 3 * DAY_MS
const LATEST = 5

/** All completed purchases in the model. */
export function tradesOf(model: MarketModel): ModelTrade[] {
  const { sales, auctions, buyoffers, template_buyoffers: templates } = model.listings
  const trade = (kind: number, listing: ModelListing, time: number): ModelTrade => {
    const template = listing.assets.length === 1 ? model.assets.get(listing.assets[0]!)!.template : -1
    return {
      kind,
      id: listing.id,
      time,
      price: model.priceOf(listing)!,
      symbol: listing.settlement,
      seller: listing.seller!,
      buyer: listing.buyer!,
      maker: listing.maker,
      taker: listing.taker!,
      collection: listing.collection,
      template: template === -1 ? undefined : template,
    }
  }
  const ended = [...auctions.values()].filter((each) => model.stateOf('auctions', each) === 3)
  return [
    ...[...sales.values()].filter(({ state }) => state === 3).map((each) => trade(1, each, each.updated)),
    ...ended.map((each) => trade(2, each, each.end! * 1000)),
    ...[...buyoffers.values()].filter(({ state }) => state === 3).map((each) => trade(3, each, each.updated)),
    ...[...templates.values()].filter(({ state }) => state === 2).map((each) => trade(4, each, each.updated)),
  ]
}

/** Groups items by key and sums their values. */
export function sumBy<T>(
  rows: readonly T[],
  keyOf: (row: T) => string,
  valueOf: (row: T) => bigint,
): Map<string, [count: number, sum: bigint]> {
  const sums = new Map<string, [number, bigint]>()
  for (const row of rows) {
    const [count, sum] = sums.get(keyOf(row)) ?? [0, 0n]
    sums.set(keyOf(row), [count + 1, sum + valueOf(row)])
  }
  return sums
}

/** Expected price statistics of templates, in the format of `/v1/prices/templates`. */
export function templatePricesOf(
  model: MarketModel,
  trades: readonly ModelTrade[],
): Record<string, string>[] {
  const groups = new Map<string, ModelTrade[]>()
  for (const each of trades) {
    if (each.template === undefined) continue
    const key = `${each.template} ${each.symbol}`
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  const rows = [...groups].map(([key, group]) => {
    const [template, symbol] = key.split(' ') as [string, string]
    const prices = group.map(({ price }) => price)
    const byTime = [...group].sort((a, b) => b.time - a.time || a.kind - b.kind || Number(a.id - b.id))
    const latest = new Set(byTime.slice(0, LATEST))
    const recent = group.filter((each) => latest.has(each) || each.time >= model.time - RECENT_MS)
    const floor = floorOf(model, Number(template), symbol)
    const capped = (price: bigint): string => String(floor !== undefined && floor < price ? floor : price)
    const recentPrices = recent.map(({ price }) => price)
    return {
      template_id: template,
      token_symbol: symbol,
      median: String(middle(prices)),
      average: String(average(prices)),
      min: String(prices.reduce((a, b) => (a < b ? a : b))),
      max: String(prices.reduce((a, b) => (a > b ? a : b))),
      sales: String(prices.length),
      suggested_median: capped(middle(recentPrices)),
      suggested_average: capped(average(recentPrices)),
    }
  })
  return rows.sort(
    (a, b) => Number(a.template_id) - Number(b.template_id) || (a.token_symbol < b.token_symbol ? -1 : 1),
  )
}

/** Lowest price among open sales of single assets of the template that have been listed for at least three days. */
function floorOf(model: MarketModel, template: number, symbol: string): bigint | undefined {
  const floors = [...model.listings.sales.values()]
    .filter(
      (sale) =>
        sale.assets.length === 1 &&
        sale.settlement === symbol &&
        sale.updated <= model.time - RECENT_MS &&
        model.assets.get(sale.assets[0]!)?.template === template &&
        model.stateOf('sales', sale) === 1,
    )
    .map((sale) => model.priceOf(sale))
    .filter((price) => price !== null)
  return floors.length === 0 ? undefined : floors.reduce((a, b) => (a < b ? a : b))
}

function middle(prices: readonly bigint[]): bigint {
  const sorted = [...prices].sort((a, b) => (a < b ? -1 : 1))
  return sorted[Math.floor((sorted.length - 1) / 2)]!
}

/** Average, rounded half up. */
function average(prices: readonly bigint[]): bigint {
  const count = BigInt(prices.length)
  return (2n * prices.reduce((sum, price) => sum + price, 0n) + count) / (2n * count)
}
