import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { jsonString } from '../../../json/index.ts'
import { collectionLists, oneOf, templateDataConditions } from '../../assets/index.ts'
import { boundaryConditions, pageWindow } from '../../paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { holdsFew, rankInRange } from './ranked-range.ts'
import type { Ranked } from './ranking.ts'
import { selectRanking } from './ranking.ts'
import { inRange, tradeRange } from './trade-range.ts'

/** Trades of single assets by template as JSON text, the most first. */
export async function templateStats(
  context: EndpointContext,
  setup: MarketSetup,
  symbol: string,
): Promise<string> {
  const { session, values } = context
  const bindings = new Bindings()
  const token = bindings.bind(symbol, 'text')
  const range = tradeRange(values)
  const sums = (within: readonly string[]): string =>
    `SELECT k.template_id AS key, count(*) AS trades, sum(k.price) AS volume FROM market.trades k
      ${whereClause([`k.token_symbol = ${token}`, 'k.template_id IS NOT NULL', ...within])} GROUP BY k.template_id`
  const ranked =
    (await rankedTemplates(context, setup, symbol)) ??
    (await selectRanking(context, {
      things: 'assets.templates t',
      key: 't.template_id',
      conditions: templateConditions(context, setup, bindings),
      ...(range
        ? {
            prelude: `WITH sums AS (${sums(inRange('k.trade_time', range, bindings))})`,
            sums: 'sums k',
            sumKey: 'k.key',
            sumConditions: [],
          }
        : {
            prelude: '',
            sums: 'market.template_prices k',
            sumKey: 'k.template_id',
            sumConditions: [`k.token_symbol = ${token}`],
          }),
      trades: 'k.trades',
      volume: 'k.volume',
      bindings,
    }))
  const ids = ranked.map(([id]) => id)
  const records = await setup.assets.records.template.readKeys(session, ids)
  const results = ranked.flatMap(([id, trades, volume]) => {
    const record = records.get(id)
    return record === undefined
      ? []
      : [`{"sales":"${trades}","volume":"${volume}","template":${jsonString(record)}}`]
  })
  return `[${results.join(',')}]`
}

/** Templates by their trades in a long range; undefined where the range must be summed up whole. */
async function rankedTemplates(
  context: EndpointContext,
  setup: MarketSetup,
  symbol: string,
): Promise<Ranked[] | undefined> {
  const { session, values } = context
  const range = tradeRange(values)
  const window = pageWindow(values)
  if (!range || !window || (await holdsFew(session, symbol, range))) return undefined
  const bindings = new Bindings()
  const token = bindings.bind(symbol, 'text')
  const by = values.text('sort') === 'sales' ? 'trades' : 'volume'
  const conditions = templateConditions(context, setup, bindings)
  const ranking = {
    things: `SELECT k.template_id AS k, k.trades AS t, k.volume AS s, k.${by} AS v
      FROM market.template_prices k JOIN assets.templates t ON t.template_id = k.template_id
      ${whereClause([`k.token_symbol = ${token}`, ...conditions])}`,
    order: `k.${by} DESC, k.template_id`,
    link: 'x.template_id = c.k',
    token,
    by,
    bindings,
  } as const
  return rankInRange(session, symbol, ranking, range, window)
}

/** Templates of listed sales, those of bundles included. */
const LISTED = `t.template_id IN (SELECT s.template_id FROM market.sales s WHERE s.state = 1 AND s.template_id IS NOT NULL
  UNION SELECT unnest(s.template_ids) FROM market.sales s WHERE s.state = 1 AND s.asset_count > 1)`

function templateConditions(
  { values, attributes }: EndpointContext,
  { trigrams }: MarketSetup,
  bindings: Bindings,
): string[] {
  return [
    ...oneOf('t.collection_name', values.texts('collection_name'), bindings),
    ...oneOf('t.schema_name', values.texts('schema_name'), bindings),
    ...collectionLists('t.collection_name', values, bindings),
    // The times of this route are those of the trades, not of the templates.
    ...boundaryConditions(
      values,
      { key: 't.template_id', cast: 'integer', parameter: 'template_id' },
      bindings,
    ),
    ...templateDataConditions(values, attributes, trigrams, bindings),
    ...(values.bool('hide_unlisted_templates') === true ? [LISTED] : []),
  ]
}
