import { inCollections, isText } from '../../nft/conditions/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { raw, sql, where } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import type { CollectionListValues } from '../../nft/parameters/index.ts'
import { inRange, tradeRange } from './trade-range.ts'
import type { StatsValues } from './parameters.ts'

const ACCOUNT = raw(
  `json_build_object('account', a.account, 'buy_volume', a.bought::text, 'sell_volume', a.sold::text)`,
)

/**
 * Sum of the purchases and sum of the sales of each account, as JSON text. The parameter `sort` orders the accounts by
 * one of the sums, largest first.
 */
export async function accountStats(
  { session, values }: EndpointContext<StatsValues['accounts']>,
  symbol: string,
): Promise<string> {
  const order = raw(`${values.sort === 'buy_volume' ? 'a.bought' : 'a.sold'} DESC, a.account`)
  const rows = await session.query<[string]>(
    sql`SELECT coalesce(json_agg(${ACCOUNT} ORDER BY ${order}), '[]')::text
      FROM (${accountPage(values, symbol, order)}) a`.render(),
  )
  return rows[0]![0]
}

/**
 * Query of one page of accounts with the sums of their purchases and sales. Source of the sums:
 * - for a time range: market.trades;
 * - for given collections: market.party_stats, the counters by account and collection;
 * - otherwise: market.account_stats, the counters by account.
 */
function accountPage(values: StatsValues['accounts'], symbol: string, order: Sql): Sql {
  const window = pageWindow(values)
  const pageOf = (sums: Sql): Sql => sql`SELECT a.* FROM (${sums}) a
    ORDER BY ${order} LIMIT ${raw(window.limit)} OFFSET ${raw(window.offset)}`
  const token = isText('k.token_symbol', symbol)
  const range = tradeRange(values)
  const { collection_name: named, collection_whitelist: white } = values
  const wanted = named && white ? [...named, ...white] : (named ?? white)
  const lists = [
    ...inCollections('k.collection_name', {
      ...values,
      collection_name: wanted,
      collection_whitelist: undefined,
    }),
  ]
  if (range) {
    const all = where([...token, ...lists, ...inRange('k.trade_time', range)])
    const side = (columns: string): Sql => sql`SELECT ${raw(columns)} FROM market.trades k ${all}`
    const sold = side('k.seller AS account, k.price AS sold, 0 AS bought')
    return pageOf(sql`SELECT s.account, sum(s.sold) AS sold, sum(s.bought) AS bought
      FROM (${sold} UNION ALL ${side('k.buyer, 0, k.price')}) s GROUP BY s.account`)
  }
  if (lists.length === 0) {
    return pageOf(
      sql`SELECT k.account, k.sell_volume AS sold, k.buy_volume AS bought FROM market.account_stats k ${where(token)}`,
    )
  }
  const [bought, sold] = [raw('sum(k.buy_volume) AS bought'), raw('sum(k.sell_volume) AS sold')]
  const [sorted, other] = values.sort === 'buy_volume' ? [bought, sold] : [sold, bought]
  const conditions = [...token, ...lists]
  // The sort needs only one sum of every account: purchases or sales. The query computes the other sum only for the
  // accounts of the page.
  const page = pageOf(
    sql`SELECT k.account, ${sorted} FROM market.party_stats k ${where(conditions)} GROUP BY k.account`,
  )
  return sql`SELECT p.*, o.* FROM (${page}) p CROSS JOIN LATERAL (
    SELECT ${other} FROM market.party_stats k ${where([...conditions, raw('k.account = p.account')])}) o`
}

/** Sums of the purchases and of the sales of one account as JSON text. */
export async function oneAccountStats(
  { session, values }: EndpointContext<StatsValues['account']>,
  symbol: string,
): Promise<string> {
  const account = values.account
  const table = raw(hasCollectionLists(values) ? 'party_stats' : 'account_stats')
  const conditions = [
    ...isText('k.token_symbol', symbol),
    ...isText('k.account', account),
    ...inCollections('k.collection_name', values),
  ]
  const rows = await session.query<[string, string]>(
    sql`SELECT coalesce(sum(k.buy_volume), 0)::text, coalesce(sum(k.sell_volume), 0)::text
      FROM market.${table} k ${where(conditions)}`.render(),
  )
  const [bought, sold] = rows[0]!
  return JSON.stringify({ account, buy_volume: bought, sell_volume: sold })
}

/** Whether the request has a `collection_whitelist`, or names collections in `collection_blacklist`. */
function hasCollectionLists(values: CollectionListValues): boolean {
  return values.collection_whitelist !== undefined || (values.collection_blacklist ?? []).length > 0
}
