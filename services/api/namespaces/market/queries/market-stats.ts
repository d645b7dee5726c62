import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { collectionLists, oneOf } from '../../assets/index.ts'
import type { MarketSetup } from '../setup.ts'
import type { TradeRange } from './trade-range.ts'
import { END_OF_TIME, inRange, tradeRange } from './trade-range.ts'
import { sumInRange } from './trade-sums.ts'

/** Trades by day as JSON text, the first day first. */
export async function graph({ session, values }: EndpointContext, symbol: string): Promise<string> {
  const bindings = new Bindings()
  const token = bindings.bind(symbol, 'text')
  const range = tradeRange(values)
  const lists = collectionLists('k.collection_name', values, bindings)
  const byMarketplaces = (row: string): string[] => [
    ...textIs(`${row}.maker_marketplace`, values.text('maker_marketplace'), bindings),
    ...textIs(`${row}.taker_marketplace`, values.text('taker_marketplace'), bindings),
  ]
  const marketplaces = byMarketplaces('k')
  const conditions = [...lists, ...marketplaces]
  const table =
    lists.length === 0
      ? 'market.marketplace_days'
      : marketplaces.length === 0
        ? 'market.collection_days'
        : 'market.trade_days'
  const days = range
    ? sumInRange({ token, by: 'k.day', conditions, days: table }, range, bindings)
    : `SELECT k.day AS key, sum(k.trades) AS trades, sum(k.volume) AS volume FROM ${table} k
        ${whereClause([`k.token_symbol = ${token}`, ...conditions])} GROUP BY k.day`
  const within = range ? inRange('x.trade_time', range, bindings) : []
  const highest = (more: readonly string[]): string =>
    `SELECT x.price FROM market.trades x
      ${whereClause([`x.token_symbol = ${token}`, `(x.trade_time / 86400000) = d.key`, ...within, ...more])}
      ORDER BY x.price DESC LIMIT 1`
  // Of a rare marketplace the highest price is far down a day's prices: it is found by the marketplaces of the day.
  const max =
    marketplaces.length === 0 || lists.length > 0
      ? highest([...collectionLists('x.collection_name', values, bindings), ...byMarketplaces('x')])
      : `SELECT max(m.price) AS price FROM market.marketplace_days k CROSS JOIN LATERAL (${highest([
          'x.maker_marketplace = k.maker_marketplace',
          'x.taker_marketplace = k.taker_marketplace',
        ])}) m ${whereClause([`k.token_symbol = ${token}`, 'k.day = d.key', ...marketplaces])}`
  const rows = await session.query<[string]>({
    text: `SELECT coalesce(json_agg(json_build_object('sales', d.trades::text, 'volume', d.volume::text,
        'max', m.price::text, 'time', (d.key::bigint * 86400000)::text) ORDER BY d.key), '[]')::text
      FROM (${days}) d CROSS JOIN LATERAL (${max}) m`,
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
    const isOfAll = lists.length === 0
    const parties = isOfAll
      ? partiesByTime(ofToken, range, bindings)
      : partiesOfTrades([ofToken, ...lists, ...inRange('k.trade_time', range, bindings)])
    const days = sumInRange(
      {
        token,
        by: 'k.maker_marketplace',
        further: ['taker_marketplace'],
        conditions: lists,
        days: isOfAll ? 'market.marketplace_days' : 'market.trade_days',
      },
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
  if (black.length > 0) return withoutCollections(ofToken, black, bindings)
  return `SELECT k.marketplace, k.sellers, k.buyers, k.sell_volume AS sold, k.buy_volume AS bought
    FROM market.marketplace_stats k WHERE ${ofToken}`
}

const COUNTED = `count(*) FILTER (WHERE k.sells > 0) AS sellers, count(*) FILTER (WHERE k.buys > 0) AS buyers,
    sum(k.sell_volume) AS sold, sum(k.buy_volume) AS bought`

/**
 * Few collections are unwanted: what was traded in them is taken off the totals. An account that did all its trades in
 * them is no party.
 */
function withoutCollections(ofToken: string, black: readonly string[], bindings: Bindings): string {
  const unwanted = [ofToken, ...oneOf('k.collection_name', black, bindings)]
  return `SELECT k.marketplace, k.sellers - coalesce(x.sellers, 0) AS sellers, k.buyers - coalesce(x.buyers, 0) AS buyers,
      k.sell_volume - coalesce(x.sold, 0) AS sold, k.buy_volume - coalesce(x.bought, 0) AS bought
    FROM market.marketplace_stats k LEFT JOIN (
      SELECT u.marketplace, sum(u.sell_volume) AS sold, sum(u.buy_volume) AS bought,
        count(*) FILTER (WHERE u.sells > 0 AND u.sells = a.sells) AS sellers,
        count(*) FILTER (WHERE u.buys > 0 AND u.buys = a.buys) AS buyers
      FROM (${partiesOf(unwanted, black.length === 1)}) u
        JOIN market.marketplace_accounts a USING (token_symbol, marketplace, account)
      GROUP BY u.marketplace
    ) x USING (marketplace)
    WHERE ${ofToken} AND (k.sellers > coalesce(x.sellers, 0) OR k.buyers > coalesce(x.buyers, 0))`
}

/** Accounts by marketplace. @param isOne of one collection: an account has one row in a marketplace. */
function partiesOf(conditions: readonly string[], isOne: boolean): string {
  return isOne
    ? `SELECT k.* FROM market.party_stats k ${whereClause(conditions)}`
    : `SELECT k.token_symbol, k.marketplace, k.account, sum(k.sells) AS sells, sum(k.sell_volume) AS sell_volume,
        sum(k.buys) AS buys, sum(k.buy_volume) AS buy_volume
      FROM market.party_stats k ${whereClause(conditions)} GROUP BY k.token_symbol, k.marketplace, k.account`
}

/** From what is kept by marketplace, account and collection. */
function ofCollections(conditions: readonly string[], isOne: boolean): string {
  return `SELECT k.marketplace, ${COUNTED} FROM (${partiesOf(conditions, isOne)}) k GROUP BY k.marketplace`
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
