import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { collectionLists, noneOf, oneOf } from '../../assets/index.ts'
import { pageWindow } from '../../paging/index.ts'
import type { PageWindow } from '../../paging/index.ts'
import { holdsFew, rankInRange, rankWithin } from './ranked-range.ts'
import type { Ranked } from './ranking.ts'
import { inRange, tradeRange } from './trade-range.ts'
import type { TradeRange } from './trade-range.ts'

const ACCOUNT = `json_build_object('account', a.account, 'buy_volume', a.bought::text, 'sell_volume', a.sold::text)`

/** What accounts bought and sold as JSON text, the most first. */
export async function accountStats({ session, values }: EndpointContext, symbol: string): Promise<string> {
  const window = pageWindow(values)
  if (!window) return '[]'
  const ranked = await rankedAccounts(session, values, symbol, window)
  if (ranked) return ranked
  const bindings = new Bindings()
  const value = values.text('sort') === 'buy_volume' ? 'a.bought' : 'a.sold'
  const rows = await session.query<[string]>({
    text: `SELECT coalesce(json_agg(${ACCOUNT} ORDER BY ${value} DESC, a.account), '[]')::text
      FROM (SELECT a.account, a.bought, a.sold FROM (${accountSums(values, symbol, bindings)}) a
        ORDER BY ${value} DESC, a.account LIMIT ${window.limit} OFFSET ${window.offset}) a`,
    values: bindings.values,
  })
  return rows[0]![0]
}

/** Accounts by what they sold or bought, those with most of all time first; undefined where all must be summed up. */
async function rankedAccounts(
  session: Session,
  values: Values,
  symbol: string,
  window: PageWindow,
): Promise<string | undefined> {
  const range = tradeRange(values)
  const black = values.texts('collection_blacklist') ?? []
  if (values.has('collection_name') || values.has('collection_whitelist')) return undefined
  if (range) {
    return black.length > 0 || (await holdsFew(session, symbol, range))
      ? undefined
      : accountsInRange(session, values, symbol, range, window)
  }
  return black.length === 0 ? undefined : accountsWithout(session, values, symbol, black, window)
}

/** The column of an account, those of its sums, and the sum that a request ranks by. */
function sideOf(values: Values): readonly ['buyer' | 'seller', count: string, volume: string] {
  return values.text('sort') === 'buy_volume'
    ? ['buyer', 'buys', 'buy_volume']
    : ['seller', 'sells', 'sell_volume']
}

async function accountsInRange(
  session: Session,
  values: Values,
  symbol: string,
  range: TradeRange,
  window: PageWindow,
): Promise<string | undefined> {
  const bindings = new Bindings()
  const token = bindings.bind(symbol, 'text')
  const [side, count, volume] = sideOf(values)
  const ranking = {
    things: `SELECT k.account AS k, k.${count} AS t, k.${volume} AS s, k.${volume} AS v FROM market.account_stats k
      WHERE k.token_symbol = ${token}`,
    order: `k.${volume} DESC, k.account`,
    link: `x.${side} = c.k`,
    token,
    by: 'volume',
    bindings,
  } as const
  const ranked = await rankInRange(session, symbol, ranking, range, window)
  if (!ranked) return undefined
  const page = new Bindings()
  const ofToken = `x.token_symbol = ${page.bind(symbol, 'text')}`
  const within = inRange('x.trade_time', range, page)
  const sum = (account: string): string =>
    `(SELECT coalesce(sum(x.price), 0) FROM market.trades x ${whereClause([ofToken, `x.${account} = n.account`, ...within])})`
  return pageOfAccounts(session, ranked, sum('seller'), sum('buyer'), page)
}

/** Few collections are unwanted: what was traded in them is taken off what an account has of all. */
async function accountsWithout(
  session: Session,
  values: Values,
  symbol: string,
  black: readonly string[],
  window: PageWindow,
): Promise<string | undefined> {
  const bindings = new Bindings()
  const ofToken = `k.token_symbol = ${bindings.bind(symbol, 'text')}`
  const [, , volume] = sideOf(values)
  const unwanted = [ofToken, ...oneOf('k.collection_name', black, bindings)]
  const ranking = {
    // An account counts while it has any trade at all, of either side.
    things: `SELECT k.account AS k, k.sells + k.buys AS t, k.${volume} AS s, k.${volume} AS v FROM market.account_stats k
      WHERE ${ofToken}`,
    order: `k.${volume} DESC, k.account`,
    sums: `SELECT c.t - coalesce(sum(k.sells + k.buys), 0) AS t, c.s - coalesce(sum(k.${volume}), 0) AS s
      FROM market.party_stats k ${whereClause([...unwanted, 'k.account = c.k'])}`,
    by: 'volume',
    bindings,
  } as const
  const ranked = await rankWithin(session, ranking, window)
  if (!ranked) return undefined
  const page = new Bindings()
  const ofPage = `k.token_symbol = ${page.bind(symbol, 'text')} AND k.account = n.account`
  const [isUnwanted] = oneOf('k.collection_name', black, page)
  const sum = (column: string): string =>
    `((SELECT k.${column} FROM market.account_stats k WHERE ${ofPage})
      - (SELECT coalesce(sum(k.${column}), 0) FROM market.party_stats k WHERE ${ofPage} AND ${isUnwanted!}))`
  return pageOfAccounts(session, ranked, sum('sell_volume'), sum('buy_volume'), page)
}

/** @param sold expression of what an account, `n.account`, sold. @param bought the same of what it bought. */
async function pageOfAccounts(
  session: Session,
  ranked: readonly Ranked[],
  sold: string,
  bought: string,
  page: Bindings,
): Promise<string> {
  const names = page.bind(
    ranked.map(([account]) => account),
    'text[]',
  )
  const rows = await session.query<[string]>({
    text: `SELECT coalesce(json_agg(${ACCOUNT} ORDER BY a.place), '[]')::text
      FROM (SELECT n.account, n.place, ${sold} AS sold, ${bought} AS bought
        FROM unnest(${names}) WITH ORDINALITY AS n(account, place)) a`,
    values: page.values,
  })
  return rows[0]![0]
}

/** A SELECT of every account that bought or sold, with both sums. */
function accountSums(values: Values, symbol: string, bindings: Bindings): string {
  const token = `k.token_symbol = ${bindings.bind(symbol, 'text')}`
  const range = tradeRange(values)
  const white = mergedLists(values.texts('collection_name'), values.texts('collection_whitelist'))
  const black = values.texts('collection_blacklist')
  if (range) {
    const conditions = [
      token,
      ...oneOf('k.collection_name', white, bindings),
      ...noneOf('k.collection_name', black, bindings),
      ...inRange('k.trade_time', range, bindings),
    ]
    const side = (account: string, sold: string, bought: string): string =>
      `SELECT k.${account} AS account, ${sold} AS sold, ${bought} AS bought FROM market.trades k ${whereClause(conditions)}`
    return `SELECT s.account, sum(s.sold) AS sold, sum(s.bought) AS bought
      FROM (${side('seller', 'k.price', '0')} UNION ALL ${side('buyer', '0', 'k.price')}) s GROUP BY s.account`
  }
  if (white) {
    const conditions = [
      token,
      ...oneOf('k.collection_name', white, bindings),
      ...noneOf('k.collection_name', black, bindings),
    ]
    return `SELECT k.account, sum(k.sell_volume) AS sold, sum(k.buy_volume) AS bought FROM market.party_stats k
      ${whereClause(conditions)} GROUP BY k.account`
  }
  if (!black || black.length === 0) {
    return `SELECT k.account, k.sell_volume AS sold, k.buy_volume AS bought FROM market.account_stats k WHERE ${token}`
  }
  // Few collections are unwanted: what was traded in them is taken off the totals.
  return `SELECT k.account, k.sell_volume - coalesce(x.sell_volume, 0) AS sold, k.buy_volume - coalesce(x.buy_volume, 0) AS bought
    FROM market.account_stats k LEFT JOIN (SELECT k.account, sum(k.sells + k.buys) AS trades, sum(k.sell_volume) AS sell_volume,
        sum(k.buy_volume) AS buy_volume FROM market.party_stats k
      ${whereClause([token, ...oneOf('k.collection_name', black, bindings)])} GROUP BY k.account) x USING (account)
    WHERE ${token} AND k.sells + k.buys > coalesce(x.trades, 0)`
}

function mergedLists(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  return one && other ? [...one, ...other] : (one ?? other)
}

/** What one account bought and sold as JSON text. */
export async function oneAccountStats({ session, values }: EndpointContext, symbol: string): Promise<string> {
  const bindings = new Bindings()
  const account = bindings.bind(values.text('account')!, 'text')
  const conditions = [
    `k.token_symbol = ${bindings.bind(symbol, 'text')}`,
    `k.account = ${account}`,
    ...collectionLists('k.collection_name', values, bindings),
  ]
  const table =
    values.has('collection_whitelist') || values.has('collection_blacklist') ? 'party_stats' : 'account_stats'
  const rows = await session.query<[string]>({
    text: `SELECT ${ACCOUNT}::text FROM (SELECT ${account} AS account, coalesce(sum(k.sell_volume), 0) AS sold,
        coalesce(sum(k.buy_volume), 0) AS bought FROM market.${table} k ${whereClause(conditions)}) a`,
    values: bindings.values,
  })
  return rows[0]![0]
}
