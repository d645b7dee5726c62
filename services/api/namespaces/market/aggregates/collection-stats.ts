import { bind, raw, sql, where } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { jsonString } from '../../../json/index.ts'
import { containsText, inCollections, isText, oneOf } from '../../nft/conditions/index.ts'
import type { MarketSetup } from '../setup.ts'
import { selectRanking } from './ranking.ts'
import { tradeRange } from './trade-range.ts'
import { sumInRange } from './trade-sums.ts'
import type { StatsValues } from './parameters.ts'

/**
 * Number of trades and sum of their prices, of each collection; one JSON text for each collection. The parameter `sort`
 * orders the collections by number or by sum, largest first.
 * @param only names of the requested collections; undefined for all collections.
 */
export async function collectionStats(
  context: EndpointContext<StatsValues['collections' | 'collection']>,
  setup: MarketSetup,
  symbol: string,
  only: readonly string[] | undefined,
): Promise<string[]> {
  const { session, values } = context
  const token = sql`k.token_symbol = ${bind(symbol, 'text')}`
  const range = tradeRange(values)
  const sum = {
    token,
    key: 'collection_name',
    conditions: oneOf('k.collection_name', only),
    days: 'market.collection_days',
    totals: 'market.collection_stats',
  }
  const ranked = await selectRanking(context, {
    things: 'assets.collections c',
    key: 'c.collection_name',
    conditions: collectionConditions(values, only, setup.trigrams),
    ...(range
      ? { query: sumInRange(sum, range), sums: 'sums k', sumKey: 'k.key', sumConditions: [] }
      : { sums: 'market.collection_stats k', sumKey: 'k.collection_name', sumConditions: [token] }),
  })
  const names = ranked.map(([name]) => name)
  const records = await setup.assets.records.collection.readKeys(session, names)
  return ranked.flatMap(([name, trades, volume]) => {
    const record = records.get(name)
    return record === undefined
      ? []
      : [`{"volume":"${volume}","sales":"${trades}",${jsonString(record).slice(1)}`]
  })
}

function collectionConditions(
  values: StatsValues['collections' | 'collection'],
  only: readonly string[] | undefined,
  trigrams: boolean,
): Sql[] {
  const conditions = [...oneOf('c.collection_name', only), ...inCollections('c.collection_name', values)]
  const { match, search } = values
  if (match !== undefined) conditions.push(containsText(raw('c.collection_name'), match))
  if (search !== undefined) {
    const shown = raw(`(c.collection_name || ' ' || coalesce(c.data ->> 'name', ''))`)
    conditions.push(trigrams ? sql`${bind(search, 'text')} <% ${shown}` : containsText(shown, search))
  }
  return conditions
}

/**
 * Number of sold sales in the requested collections and sum of their prices, as JSON text. The sum is null if there are
 * no sold sales.
 */
export async function saleStats(
  { session, values }: EndpointContext<StatsValues['sales']>,
  symbol: string,
): Promise<string> {
  const conditions = [
    ...isText('k.token_symbol', symbol),
    raw('k.sales > 0'),
    ...inCollections('k.collection_name', values),
  ]
  const rows = await session.query<[string]>(
    sql`SELECT json_build_object('volume', sum(k.sale_volume)::text, 'sales', coalesce(sum(k.sales), 0)::text)::text
      FROM market.collection_stats k ${where(conditions)}`.render(),
  )
  return rows[0]![0]
}
