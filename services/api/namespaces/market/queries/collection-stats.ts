import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { jsonString } from '../../../json/index.ts'
import { collectionLists, contains, oneOf, resembles } from '../../assets/index.ts'
import type { MarketSetup } from '../setup.ts'
import { selectRanking } from './ranking.ts'
import { tradeRange } from './trade-range.ts'
import { sumInRange } from './trade-sums.ts'

/** Trades by collection as JSON texts, the most first. @param only the collections that are asked for. */
export async function collectionStats(
  context: EndpointContext,
  setup: MarketSetup,
  symbol: string,
  only: readonly string[] | undefined,
): Promise<string[]> {
  const { session, values } = context
  const bindings = new Bindings()
  const token = bindings.bind(symbol, 'text')
  const range = tradeRange(values)
  const ranked = await selectRanking(context, {
    things: 'assets.collections c',
    key: 'c.collection_name',
    conditions: collectionConditions(values, only, setup.trigrams, bindings),
    ...(range
      ? {
          prelude: `WITH sums AS (${sumInRange(
            {
              token,
              by: 'k.collection_name',
              conditions: oneOf('k.collection_name', only, bindings),
              days: 'market.collection_days',
            },
            range,
            bindings,
          )})`,
          sums: 'sums k',
          sumKey: 'k.key',
          sumConditions: [],
        }
      : {
          prelude: '',
          sums: 'market.collection_stats k',
          sumKey: 'k.collection_name',
          sumConditions: [`k.token_symbol = ${token}`],
        }),
    trades: 'k.trades',
    volume: 'k.volume',
    bindings,
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
  values: Values,
  only: readonly string[] | undefined,
  trigrams: boolean,
  bindings: Bindings,
): string[] {
  const conditions = [
    ...oneOf('c.collection_name', only, bindings),
    ...collectionLists('c.collection_name', values, bindings),
  ]
  const match = values.text('match')
  const search = values.text('search')
  if (match !== undefined) conditions.push(contains('c.collection_name', match, bindings))
  if (search !== undefined) {
    const shown = `(c.collection_name || ' ' || coalesce(c.data ->> 'name', ''))`
    conditions.push(resembles(shown, search, trigrams, bindings))
  }
  return conditions
}

/** Number and sum of all sales as JSON text; the sum is null when there are none. */
export async function saleStats({ session, values }: EndpointContext, symbol: string): Promise<string> {
  const bindings = new Bindings()
  const conditions = [
    `k.token_symbol = ${bindings.bind(symbol, 'text')}`,
    'k.sales > 0',
    ...collectionLists('k.collection_name', values, bindings),
  ]
  const rows = await session.query<[string]>({
    text: `SELECT json_build_object('volume', sum(k.sale_volume)::text, 'sales', coalesce(sum(k.sales), 0)::text)::text
      FROM market.collection_stats k ${whereClause(conditions)}`,
    values: bindings.values,
  })
  return rows[0]![0]
}
