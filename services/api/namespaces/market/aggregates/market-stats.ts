import { inCollections, isText } from '../../nft/conditions/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { bind, raw, sql, where } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import type { MarketSetup } from '../setup.ts'
import type { TradeRange } from './trade-range.ts'
import { inRange, tradeRange } from './trade-range.ts'
import { sumInRange } from './trade-sums.ts'
import type { StatsValues } from './parameters.ts'

/** Trades of each day (number, sum of the prices, highest price) as JSON text, in ascending order of the days. */
export async function graph(
  { session, values }: EndpointContext<StatsValues['graph']>,
  symbol: string,
): Promise<string> {
  const token = sql`k.token_symbol = ${bind(symbol, 'text')}`
  const range = tradeRange(values)
  const lists = inCollections('k.collection_name', values)
  const marketplaces = (row: string): Sql[] => [
    ...isText(`${row}.maker_marketplace`, values.maker_marketplace),
    ...isText(`${row}.taker_marketplace`, values.taker_marketplace),
  ]
  const conditions = [...lists, ...marketplaces('k')]
  // Choose the counter table with the fewest columns that has all columns of the conditions: tables with fewer columns
  // have fewer rows.
  const table =
    lists.length === 0
      ? 'market.marketplace_days'
      : lists.length === conditions.length
        ? 'market.collection_days'
        : 'market.trade_days'
  const days = range
    ? sumInRange({ token, key: 'day', conditions, days: table }, range)
    : sql`SELECT k.day AS key, sum(k.trades) AS trades, sum(k.volume) AS volume FROM ${raw(table)} k
        ${where([token, ...conditions])} GROUP BY k.day`
  const highest = where([
    ...isText('x.token_symbol', symbol),
    raw('(x.trade_time / 86400000) = d.key'),
    ...(range ? inRange('x.trade_time', range) : []),
    ...inCollections('x.collection_name', values),
    ...marketplaces('x'),
  ])
  const rows = await session.query<[string]>(
    sql`SELECT coalesce(json_agg(json_build_object('sales', d.trades::text, 'volume', d.volume::text,
        'max', m.price::text, 'time', (d.key::bigint * 86400000)::text) ORDER BY d.key), '[]')::text
      FROM (${days}) d CROSS JOIN LATERAL (SELECT x.price FROM market.trades x ${highest} ORDER BY x.price DESC LIMIT 1) m`.render(),
  )
  return rows[0]![0]
}

/**
 * Numbers of sellers and buyers, and sums of sales and purchases, of each marketplace as JSON text. Sales and purchases
 * together determine the order: the marketplace with the largest sum comes first.
 */
export async function marketStats(
  { session, values }: EndpointContext<StatsValues['markets']>,
  { contract }: MarketSetup,
  symbol: string,
): Promise<string> {
  const rows = await session.query<[string]>(
    sql`SELECT coalesce(json_agg(json_build_object('market_contract', ${bind(contract, 'text')},
        'marketplace_name', m.marketplace, 'sellers', m.sellers::text, 'buyers', m.buyers::text,
        'maker_volume', m.sold::text, 'taker_volume', m.bought::text) ORDER BY m.sold + m.bought DESC, m.marketplace), '[]')::text
      FROM (${ofMarketplaces(values, symbol)}) m`.render(),
  )
  return rows[0]![0]
}

/** Query of the numbers of sellers and buyers, and of the sums of sales and purchases, of each marketplace. */
function ofMarketplaces(values: StatsValues['markets'], symbol: string): Sql {
  const token = isText('k.token_symbol', symbol)
  const range = tradeRange(values)
  const lists = inCollections('k.collection_name', values)
  if (range) return sumParties(partiesInRange([...token, ...lists], range))
  if (lists.length === 0) {
    return sql`SELECT k.marketplace, k.sellers, k.buyers, k.sell_volume AS sold, k.buy_volume AS bought
      FROM market.marketplace_stats k ${where(token)}`
  }
  return sumParties(sql`SELECT k.marketplace, k.account, sum(k.sells) AS sells, sum(k.sell_volume) AS sold,
      sum(k.buys) AS buys, sum(k.buy_volume) AS bought
    FROM market.party_stats k ${where([...token, ...lists])} GROUP BY k.account, k.marketplace`)
}

/**
 * Trades of accounts by marketplace in a time range: a seller counts for the marketplace of the listing, a buyer for
 * the marketplace of the purchase.
 */
function partiesInRange(conditions: readonly Sql[], range: TradeRange): Sql {
  const all = where([...conditions, ...inRange('k.trade_time', range)])
  const side = (marketplace: string, account: string): Sql => sql`SELECT k.${raw(marketplace)} AS marketplace,
      k.${raw(account)} AS account, count(*) AS trades, sum(k.price) AS volume FROM market.trades k ${all} GROUP BY 1, 2`
  return sql`SELECT s.marketplace, s.account, s.trades AS sells, s.volume AS sold, 0 AS buys, 0 AS bought
      FROM (${side('maker_marketplace', 'seller')}) s
    UNION ALL SELECT b.marketplace, b.account, 0, 0, b.trades, b.volume FROM (${side('taker_marketplace', 'buyer')}) b`
}

function sumParties(parties: Sql): Sql {
  return sql`SELECT p.marketplace, count(*) FILTER (WHERE p.sells > 0) AS sellers, count(*) FILTER (WHERE p.buys > 0) AS buyers,
      sum(p.sold) AS sold, sum(p.bought) AS bought FROM (${parties}) p GROUP BY p.marketplace`
}
