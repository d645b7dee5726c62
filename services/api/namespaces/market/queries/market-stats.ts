import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { collectionLists, oneOf } from '../../assets/index.ts'
import type { MarketSetup } from '../setup.ts'
import { inRange, tradeRange } from './trade-range.ts'
import { sumInRange, TRADE_DAY } from './trade-sums.ts'

/** Trades by day as JSON text, the first day first. */
export async function graph({ session, values }: EndpointContext, symbol: string): Promise<string> {
  const bindings = new Bindings()
  const token = bindings.bind(symbol, 'text')
  const conditions = [
    ...collectionLists('k.collection_name', values, bindings),
    ...textIs('k.maker_marketplace', values.text('maker_marketplace'), bindings),
    ...textIs('k.taker_marketplace', values.text('taker_marketplace'), bindings),
  ]
  const range = tradeRange(values)
  const days = range
    ? sumInRange({ token, by: 'k.day', conditions }, range, bindings)
    : `SELECT k.day AS key, sum(k.trades) AS trades, sum(k.volume) AS volume FROM market.trade_days k
        ${whereClause([`k.token_symbol = ${token}`, ...conditions])} GROUP BY k.day`
  const within = range ? inRange('k.trade_time', range, bindings) : []
  const highest = `SELECT k.price FROM market.trades k
    ${whereClause([`k.token_symbol = ${token}`, `${TRADE_DAY} = d.key`, ...conditions, ...within])}
    ORDER BY k.price DESC LIMIT 1`
  const rows = await session.query<[string]>({
    text: `SELECT coalesce(json_agg(json_build_object('sales', d.trades::text, 'volume', d.volume::text,
        'max', m.price::text, 'time', (d.key::bigint * 86400000)::text) ORDER BY d.key), '[]')::text
      FROM (${days}) d CROSS JOIN LATERAL (${highest}) m`,
    values: bindings.values,
  })
  return rows[0]![0]
}

function textIs(column: string, text: string | undefined, bindings: Bindings): string[] {
  return oneOf(column, text === undefined ? undefined : [text], bindings)
}

/** Trades by marketplace as JSON text, the most first. */
export async function marketStats(
  { session, values }: EndpointContext,
  { contract }: MarketSetup,
  symbol: string,
): Promise<string> {
  const bindings = new Bindings()
  const range = tradeRange(values)
  const conditions = [
    `k.token_symbol = ${bindings.bind(symbol, 'text')}`,
    ...collectionLists('k.collection_name', values, bindings),
    ...(range ? inRange('k.trade_time', range, bindings) : []),
  ]
  const source = range
    ? `SELECT k.maker_marketplace AS marketplace, k.seller AS account, 1 AS sells, k.price AS sell_volume, 0 AS buys, 0 AS buy_volume
        FROM market.trades k ${whereClause(conditions)}
        UNION ALL SELECT k.taker_marketplace, k.buyer, 0, 0, 1, k.price FROM market.trades k ${whereClause(conditions)}`
    : `SELECT k.marketplace, k.account, k.sells, k.sell_volume, k.buys, k.buy_volume
        FROM market.party_stats k ${whereClause(conditions)}`
  const rows = await session.query<[string]>({
    text: `SELECT coalesce(json_agg(json_build_object('market_contract', ${bindings.bind(contract, 'text')},
        'marketplace_name', m.marketplace, 'sellers', m.sellers::text, 'buyers', m.buyers::text,
        'maker_volume', m.sold::text, 'taker_volume', m.bought::text) ORDER BY m.sold + m.bought DESC, m.marketplace), '[]')::text
      FROM (SELECT p.marketplace, count(*) FILTER (WHERE p.sells > 0) AS sellers,
          count(*) FILTER (WHERE p.buys > 0) AS buyers, sum(p.sold) AS sold, sum(p.bought) AS bought
        FROM (SELECT s.marketplace, s.account, sum(s.sells) AS sells, sum(s.buys) AS buys, sum(s.sell_volume) AS sold,
            sum(s.buy_volume) AS bought FROM (${source}) s GROUP BY s.marketplace, s.account) p
        GROUP BY p.marketplace) m`,
    values: bindings.values,
  })
  return rows[0]![0]
}
