import type { EndpointContext } from '../../../endpoint/index.ts'
import { raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import type { PageValues } from '../../nft/paging/index.ts'

/** Rows ranked by their trades; rows without trades come last. */
export interface Ranking {
  /** FROM item of the ranked rows and their key, for example `assets.collections c` and `c.collection_name`. */
  readonly things: string
  readonly key: string
  readonly conditions: readonly Sql[]
  /** Query that computes the sums of trades, if no table stores them. The query becomes the WITH item `sums`. */
  readonly query?: Sql
  /** FROM item with the alias `k` and the columns `trades` and `volume`. `sumKey` is the key column of the item. */
  readonly sums: string
  readonly sumKey: string
  readonly sumConditions: readonly Sql[]
}

/** A ranked row as texts: key, number of its trades, sum of its trades. */
export type Ranked = readonly [key: string, trades: string, volume: string]

/**
 * A page of a ranking: largest first, ties by key. Rows with trades are read in the order of their sums, then rows
 * without trades in the order of their keys, each only as far as the page needs.
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
