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
  ]
  const sources = range
    ? tradesInRange([...conditions, ...inRange('k.trade_time', range, bindings)])
    : kept(conditions)
  const rows = await session.query<[string]>({
    text: `WITH parties AS (SELECT p.marketplace, count(*) FILTER (WHERE p.sells) AS sellers, count(*) FILTER (WHERE p.buys) AS buyers
        FROM (${sources.parties}) p GROUP BY p.marketplace),
      sums AS (SELECT s.marketplace, sum(s.sold) AS sold, sum(s.bought) AS bought FROM (${sources.sums}) s GROUP BY s.marketplace)
      SELECT coalesce(json_agg(json_build_object('market_contract', ${bindings.bind(contract, 'text')},
        'marketplace_name', m.marketplace, 'sellers', m.sellers::text, 'buyers', m.buyers::text,
        'maker_volume', s.sold::text, 'taker_volume', s.bought::text) ORDER BY s.sold + s.bought DESC, m.marketplace), '[]')::text
      FROM parties m JOIN sums s USING (marketplace)`,
    values: bindings.values,
  })
  return rows[0]![0]
}

/** SELECTs of who traded through which marketplace, and of the sums by marketplace. */
interface MarketSources {
  readonly parties: string
  readonly sums: string
}

/** From what is kept of all time: the sums of days are far fewer than the accounts. */
function kept(conditions: readonly string[]): MarketSources {
  const where = whereClause(conditions)
  return {
    parties: `SELECT k.marketplace, bool_or(k.sells > 0) AS sells, bool_or(k.buys > 0) AS buys
      FROM market.party_stats k ${where} GROUP BY k.marketplace, k.account`,
    sums: `SELECT k.maker_marketplace AS marketplace, k.volume AS sold, 0 AS bought FROM market.trade_days k ${where}
      UNION ALL SELECT k.taker_marketplace, 0, k.volume FROM market.trade_days k ${where}`,
  }
}

function tradesInRange(conditions: readonly string[]): MarketSources {
  const where = whereClause(conditions)
  return {
    parties: `SELECT b.marketplace, bool_or(b.sells) AS sells, bool_or(NOT b.sells) AS buys
      FROM (SELECT DISTINCT k.maker_marketplace AS marketplace, k.seller AS account, true AS sells FROM market.trades k ${where}
        UNION ALL SELECT DISTINCT k.taker_marketplace, k.buyer, false FROM market.trades k ${where}) b
      GROUP BY b.marketplace, b.account`,
    sums: `SELECT k.maker_marketplace AS marketplace, k.price AS sold, 0::bigint AS bought FROM market.trades k ${where}
      UNION ALL SELECT k.taker_marketplace, 0, k.price FROM market.trades k ${where}`,
  }
}
