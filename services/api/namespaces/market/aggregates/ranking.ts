import type { EndpointContext } from '../../../endpoint/index.ts'
import { raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import type { PageValues } from '../../nft/paging/index.ts'

/**
 * Things (collections or templates) that are ranked by the number of their trades or by the sum of the prices. Things
 * without trades come last.
 */
export interface Ranking {
  /**
   * FROM item of the ranked things, for example `assets.collections c`. `key` is the key column of the things, for
   * example `c.collection_name`.
   */
  readonly things: string
  readonly key: string
  readonly conditions: readonly Sql[]
  /**
   * Query that computes the number and sum of the trades of each thing. Set only if no table stores these sums. The
   * query becomes the WITH item `sums` of the statement.
   */
  readonly query?: Sql
  /**
   * FROM item with the number and the sum of the trades of each thing: alias `k`, columns `trades` and `volume`.
   * `sumKey` is the column of the FROM item that equals `key`.
   */
  readonly sums: string
  readonly sumKey: string
  readonly sumConditions: readonly Sql[]
}

/** A row of a ranking as texts: key, number of trades, sum of the prices of the trades. */
export type Ranked = readonly [key: string, trades: string, volume: string]

/**
 * Returns one page of a ranking: the largest value first, equal values in the order of the keys. Things without trades
 * follow, in the order of the keys. One subquery returns the things with trades, and one the things without trades.
 * Each subquery returns rows only up to the end of the page.
 */
export async function selectRanking(
  context: EndpointContext<PageValues & { readonly sort: string }>,
  ranking: Ranking,
): Promise<Ranked[]> {
  const window = pageWindow(context.values)
  const { conditions, query, sumConditions } = ranking
  const [things, key, sums, sumKey] = [ranking.things, ranking.key, ranking.sums, ranking.sumKey].map(raw)
  const value = raw(context.values.sort === 'sales' ? 'k.trades' : 'k.volume')
  const reach = raw(window.offset + window.limit)
  const linked = sql`${sumKey!} = ${key!}`
  const traded = sql`SELECT ${key!} AS k, k.trades AS t, k.volume AS s, ${value} AS v FROM ${sums!} JOIN ${things!} ON ${linked}
    ${where([...sumConditions, ...conditions])} ORDER BY ${value} DESC, ${sumKey!} LIMIT ${reach}`
  const isTraded = sql`EXISTS (SELECT FROM ${sums!} ${where([linked, ...sumConditions])})`
  const untraded = sql`SELECT ${key!}, 0, 0, NULL FROM ${things!}
    ${where([...conditions, sql`NOT ${isTraded}`])} ORDER BY ${key!} LIMIT ${reach}`
  const prelude = query ? sql`WITH sums AS (${query})` : raw('')
  return context.session.query<Ranked>(
    sql`${prelude} SELECT u.k::text, u.t::text, u.s::text FROM ((${traded}) UNION ALL (${untraded})) u
      ORDER BY u.v DESC NULLS LAST, u.k LIMIT ${raw(window.limit)} OFFSET ${raw(window.offset)}`.render(),
  )
}
