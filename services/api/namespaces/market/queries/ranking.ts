import type { EndpointContext } from '../../../endpoint/index.ts'
import type { Bindings } from '../../../database/index.ts'
import { whereClause } from '../../../database/index.ts'
import { pageWindow } from '../../paging/index.ts'

/** Things that are ranked by their trades; what has none comes last. */
export interface Ranking {
  /** FROM item of the things and their key, for example `assets.collections c` and `c.collection_name`. */
  readonly things: string
  readonly key: string
  readonly conditions: readonly string[]
  /** Statement before the SELECT, for example `WITH sums AS (…)`; empty for none. */
  readonly prelude: string
  /** FROM item `k` with the sums and its key column. */
  readonly sums: string
  readonly sumKey: string
  /** Conditions on the sums. */
  readonly sumConditions: readonly string[]
  readonly trades: string
  readonly volume: string
  readonly bindings: Bindings
}

/** A ranked thing: its key, number and sum of its trades, as texts. */
export type Ranked = readonly [key: string, trades: string, volume: string]

/**
 * A page of a ranking: the most first, ties by key. What was traded is read in the order of its sums, what was not in
 * the order of its keys, each no further than the page reaches.
 */
export async function selectRanking(context: EndpointContext, ranking: Ranking): Promise<Ranked[]> {
  const window = pageWindow(context.values)
  if (!window) return []
  const { things, key, conditions, prelude, sums, sumKey, sumConditions, trades, volume, bindings } = ranking
  const value = context.values.text('sort') === 'sales' ? trades : volume
  const reach = window.offset + window.limit
  const linked = [`${sumKey} = ${key}`, ...sumConditions]
  const traded = `SELECT ${key} AS k, ${trades} AS t, ${volume} AS s, ${value} AS v FROM ${sums} JOIN ${things} ON ${sumKey} = ${key}
    ${whereClause([...sumConditions, ...conditions])} ORDER BY ${value} DESC, ${sumKey} LIMIT ${reach}`
  const untraded = `SELECT ${key}, 0, 0, NULL FROM ${things}
    ${whereClause([...conditions, `NOT EXISTS (SELECT FROM ${sums} ${whereClause(linked)})`])} ORDER BY ${key} LIMIT ${reach}`
  const rows = await context.session.query<Ranked>({
    text: `${prelude} SELECT u.k::text, u.t::text, u.s::text FROM ((${traded}) UNION ALL (${untraded})) u
      ORDER BY u.v DESC NULLS LAST, u.k LIMIT ${window.limit} OFFSET ${window.offset}`,
    values: bindings.values,
  })
  return rows
}
