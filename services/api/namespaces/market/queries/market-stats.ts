import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { collectionLists, oneOf } from '../../assets/index.ts'
import type { MarketSetup } from '../setup.ts'
import type { TradeRange } from './trade-range.ts'
import { END_OF_TIME, inRange, tradeRange } from './trade-range.ts'
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
  const rows = await session.query<[string]>({
    text: `SELECT coalesce(json_agg(json_build_object('market_contract', ${bindings.bind(contract, 'text')},
        'marketplace_name', m.marketplace, 'sellers', m.sellers::text, 'buyers', m.buyers::text,
        'maker_volume', m.sold::text, 'taker_volume', m.bought::text) ORDER BY m.sold + m.bought DESC, m.marketplace), '[]')::text
      FROM (${ofMarketplaces(values, bindings.bind(symbol, 'text'), bindings)}) m`,
    values: bindings.values,
  })
  return rows[0]![0]
}

/** A SELECT of marketplaces with the numbers of their sellers and buyers, and what was sold and bought. */
function ofMarketplaces(values: Values, token: string, bindings: Bindings): string {
  const range = tradeRange(values)
  const ofToken = `k.token_symbol = ${token}`
  if (range) {
    const lists = collectionLists('k.collection_name', values, bindings)
    const parties =
      lists.length === 0
        ? partiesByTime(ofToken, range, bindings)
        : partiesOfTrades([ofToken, ...lists, ...inRange('k.trade_time', range, bindings)])
    const days = sumInRange(
      { token, by: 'k.maker_marketplace', further: ['taker_marketplace'], conditions: lists },
      range,
      bindings,
    )
    return `WITH days AS MATERIALIZED (${days}), parties AS (${parties}),
      sums AS (SELECT s.marketplace, sum(s.sold) AS sold, sum(s.bought) AS bought FROM (
        SELECT d.key AS marketplace, d.volume AS sold, 0 AS bought FROM days d
        UNION ALL SELECT d.taker_marketplace, 0, d.volume FROM days d) s GROUP BY s.marketplace)
      SELECT p.marketplace, p.sellers, p.buyers, s.sold, s.bought FROM parties p JOIN sums s USING (marketplace)`
  }
  const white = values.texts('collection_whitelist')
  if (white) {
    const lists = collectionLists('k.collection_name', values, bindings)
    return ofCollections([ofToken, ...lists], white.length === 1)
  }
  const black = values.texts('collection_blacklist') ?? []
  const unwanted = black.length === 0 ? undefined : bindings.bind(black, 'text[]')
  return ofAllTime(ofToken, unwanted)
}

const COUNTED = `count(*) FILTER (WHERE k.sells > 0) AS sellers, count(*) FILTER (WHERE k.buys > 0) AS buyers,
    sum(k.sell_volume) AS sold, sum(k.buy_volume) AS bought`

/** From what is kept by marketplace and account; few collections are unwanted: what was traded in them is taken off. */
function ofAllTime(ofToken: string, unwanted: string | undefined): string {
  if (unwanted === undefined) {
    return `SELECT k.marketplace, ${COUNTED} FROM market.marketplace_accounts k WHERE ${ofToken} GROUP BY k.marketplace`
  }
  const rest = (column: string): string => `k.${column} - coalesce(x.${column}, 0) AS ${column}`
  return `SELECT k.marketplace, ${COUNTED} FROM (
      SELECT k.marketplace, ${['sells', 'sell_volume', 'buys', 'buy_volume'].map(rest).join(', ')}
      FROM market.marketplace_accounts k LEFT JOIN (
        SELECT k.marketplace, k.account, sum(k.sells) AS sells, sum(k.sell_volume) AS sell_volume, sum(k.buys) AS buys,
          sum(k.buy_volume) AS buy_volume
        FROM market.party_stats k WHERE ${ofToken} AND k.collection_name = ANY(${unwanted}) GROUP BY k.marketplace, k.account
      ) x USING (marketplace, account) WHERE ${ofToken}) k
    WHERE k.sells + k.buys > 0 GROUP BY k.marketplace`
}

/** From what is kept by marketplace, account and collection. @param isOne an account has one row in a marketplace. */
function ofCollections(conditions: readonly string[], isOne: boolean): string {
  const rows = isOne
    ? `SELECT k.* FROM market.party_stats k ${whereClause(conditions)}`
    : `SELECT k.marketplace, sum(k.sells) AS sells, sum(k.sell_volume) AS sell_volume, sum(k.buys) AS buys,
        sum(k.buy_volume) AS buy_volume FROM market.party_stats k ${whereClause(conditions)} GROUP BY k.marketplace, k.account`
  return `SELECT k.marketplace, ${COUNTED} FROM (${rows}) k GROUP BY k.marketplace`
}

/**
 * Who traded in a range, from first and last times. An account that did so both before and after a range has its trades
 * looked at.
 */
function partiesByTime(ofToken: string, range: TradeRange, bindings: Bindings): string {
  const from = range.from <= 0 ? undefined : bindings.bind(range.from, 'bigint')
  const until = range.until >= END_OF_TIME ? undefined : bindings.bind(range.until, 'bigint')
  const within = (side: string, marketplace: string, first: string, last: string): string => {
    const bounds = [
      `k.${first} IS NOT NULL`,
      ...(until === undefined ? [] : [`k.${first} < ${until}`]),
      ...(from === undefined ? [] : [`k.${last} >= ${from}`]),
    ]
    if (from !== undefined && until !== undefined) {
      // OFFSET 0 keeps the planner from reading the trades of all accounts.
      bounds.push(`(k.${first} >= ${from} OR k.${last} < ${until} OR EXISTS (
        SELECT FROM market.trades t WHERE t.token_symbol = k.token_symbol AND t.${side} = k.account
          AND t.${marketplace} = k.marketplace AND t.trade_time >= ${from} AND t.trade_time < ${until} OFFSET 0))`)
    }
    return bounds.join(' AND ')
  }
  return `SELECT k.marketplace,
      count(*) FILTER (WHERE ${within('seller', 'maker_marketplace', 'first_sold', 'last_sold')}) AS sellers,
      count(*) FILTER (WHERE ${within('buyer', 'taker_marketplace', 'first_bought', 'last_bought')}) AS buyers
    FROM market.marketplace_accounts k WHERE ${ofToken} GROUP BY k.marketplace`
}

function partiesOfTrades(conditions: readonly string[]): string {
  const where = whereClause(conditions)
  return `SELECT b.marketplace, count(*) FILTER (WHERE b.sells) AS sellers, count(*) FILTER (WHERE NOT b.sells) AS buyers
    FROM (SELECT DISTINCT k.maker_marketplace AS marketplace, k.seller AS account, true AS sells FROM market.trades k ${where}
      UNION ALL SELECT DISTINCT k.taker_marketplace, k.buyer, false FROM market.trades k ${where}) b
    GROUP BY b.marketplace`
}
