import { bind, raw, sql } from '../../../sql/index.ts'
import type { FoundFragments } from '../../../records/index.ts'
import { packRows, unpackRows } from '../../../database/index.ts'
import type { AssetExtension } from '../../nft/records/index.ts'
import { readPairs } from '../../nft/fragments/index.ts'
import { PRICE_VERSIONS, priceList, templatePrices } from './template-prices.ts'

/** Dependencies of the records of a market. */
export interface MarketTraits {
  /** Market contract account. */
  readonly contract: string
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/** The best open offer in each token for the distinct templates of the assets. */
const OFFERS = `(SELECT ${packRows(['b.template_id', 'b.buyoffer_id', 'b.token_symbol'], 'b.token_symbol')}
  FROM (SELECT DISTINCT template_id FROM a) d CROSS JOIN market.tokens y CROSS JOIN LATERAL (
    SELECT o.template_id, o.token_symbol, o.buyoffer_id FROM market.template_buyoffers o
    WHERE o.template_id = d.template_id AND o.token_symbol = y.token_symbol AND o.state = 0
    ORDER BY o.price DESC, o.buyoffer_id LIMIT 1) b)`

const SALES = `(SELECT ${packRows(['a.asset_id', 's.sale_id'], 's.sale_id')}
  FROM a CROSS JOIN LATERAL (SELECT x.listing_id FROM market.listing_assets x
    WHERE x.asset_id = a.asset_id AND x.kind = 1 OFFSET 0) x CROSS JOIN LATERAL (
    SELECT s.sale_id FROM market.sales s WHERE s.sale_id = x.listing_id AND s.state = 1 OFFSET 0) s)`

const auctionMembers = [
  `(SELECT ${packRows(['a.asset_id', 'u.auction_id'], 'u.auction_id')}
  FROM a CROSS JOIN LATERAL (SELECT x.listing_id FROM market.listing_assets x
    WHERE x.asset_id = a.asset_id AND x.kind = 2 OFFSET 0) x CROSS JOIN LATERAL (
    SELECT u.auction_id FROM market.auctions u WHERE u.auction_id = x.listing_id AND u.state = 1 AND u.end_time > `,
  ' OFFSET 0) u)',
] as const

/**
 * What listings show of the assets in them: the prices of their templates, but not the listings that they are part of.
 */
export function containedAssetExtension({ contract }: MarketTraits): AssetExtension {
  return {
    columnCount: 1,
    select: () => ({ ctes: [], columns: [raw(PRICE_VERSIONS)] }),
    read: ([prices]) => ({
      versions: new Map([[templatePrices, readPairs(prices)]]),
      membersOf(found) {
        const pricesOf = priceLists(contract, found)
        return ([, , , templateId]) => {
          if (templateId === '') return '"sales":[],"auctions":[]'
          return `"sales":[],"auctions":[],"prices":[${pricesOf(templateId)}],"template_buyoffers":[]`
        }
      },
    }),
  }
}

/** Members that the market adds to assets: prices, listings and the best offers for their templates. */
export function marketAssetExtension({ contract, clock }: MarketTraits): AssetExtension {
  return {
    columnCount: 4,
    select() {
      const second = bind(Math.floor(clock() / 1000), 'bigint')
      const auctions = sql`${raw(auctionMembers[0])}${second}${raw(auctionMembers[1])}`
      return { ctes: [], columns: [raw(PRICE_VERSIONS), raw(OFFERS), raw(SALES), auctions] }
    },
    read([packedPrices, packedOffers, packedSales, packedAuctions]) {
      const head = `{"market_contract":"${contract}",`
      const offers = readLists(
        unpackRows<[string, string, string]>(packedOffers),
        ([, id, symbol]) => `${head}"buyoffer_id":"${id}","token_symbol":"${symbol}"}`,
      )
      const sales = readLists(
        unpackRows<[string, string]>(packedSales),
        ([, id]) => `${head}"sale_id":"${id}"}`,
      )
      const auctions = readLists(
        unpackRows<[string, string]>(packedAuctions),
        ([, id]) => `${head}"auction_id":"${id}"}`,
      )
      return {
        versions: new Map([[templatePrices, readPairs(packedPrices)]]),
        membersOf(found) {
          const pricesOf = priceLists(contract, found)
          return ([id, , , templateId]) => {
            const own = `"sales":[${sales.get(id) ?? ''}],"auctions":[${auctions.get(id) ?? ''}]`
            if (templateId === '') return own
            const offered = offers.get(templateId) ?? ''
            return `${own},"prices":[${pricesOf(templateId)}],"template_buyoffers":[${offered}]`
          }
        },
      }
    },
  }
}

/** The prices of templates as comma lists. */
function priceLists(contract: string, found: FoundFragments): (templateId: string) => string {
  const lists = new Map<string, string>()
  return (templateId) => {
    const known = lists.get(templateId)
    if (known !== undefined) return known
    const fragment = found.get(templatePrices, templateId)
    const list = fragment ? priceList(contract, fragment.texts[0]!) : ''
    lists.set(templateId, list)
    return list
  }
}

/** JSON objects of packed rows, in comma lists by their first field. */
function readLists<Row extends readonly [key: string, ...string[]]>(
  rows: readonly Row[],
  objectOf: (row: Row) => string,
): Map<string, string> {
  const lists = new Map<string, string>()
  for (const row of rows) {
    const before = lists.get(row[0])
    const object = objectOf(row)
    lists.set(row[0], before === undefined ? object : `${before},${object}`)
  }
  return lists
}
