import { without } from '../../../../core/endpoint/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { raw, sql, where } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { jsonString } from '../../../json/index.ts'
import { boundaryFilters, templateConditions } from '../../nft/filters/index.ts'
import { inCollections, isText, oneOf } from '../../nft/conditions/index.ts'
import type { MarketSetup } from '../setup.ts'
import { selectRanking } from './ranking.ts'
import { inRange, tradeRange } from './trade-range.ts'
import type { StatsValues } from './parameters.ts'

/**
 * Number of trades of single assets and sum of their prices, of each template, as JSON text. The parameter `sort`
 * orders the templates by number or by sum, largest first.
 */
export async function templateStats(
  context: EndpointContext<StatsValues['templates']>,
  setup: MarketSetup,
  symbol: string,
): Promise<string> {
  const { session, values } = context
  const token = isText('k.token_symbol', symbol)
  const range = tradeRange(values)
  const ofTrades = [
    ...token,
    raw('k.template_id IS NOT NULL'),
    ...inCollections('k.collection_name', values),
    ...oneOf('k.schema_name', values.schema_name),
  ]
  const ranked = await selectRanking(context, {
    things: 'assets.templates t',
    key: 't.template_id',
    conditions: conditionsOf(context, setup),
    ...(range
      ? {
          query: sql`SELECT k.template_id AS key, count(*) AS trades, sum(k.price) AS volume FROM market.trades k
            ${where([...ofTrades, ...inRange('k.trade_time', range)])} GROUP BY k.template_id`,
          sums: 'sums k',
          sumKey: 'k.key',
          sumConditions: [],
        }
      : { sums: 'market.template_prices k', sumKey: 'k.template_id', sumConditions: token }),
  })
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

/** SQL condition on templates: at least one asset of the template is for sale, alone or in a bundle. */
const LISTED =
  raw(`t.template_id IN (SELECT s.template_id FROM market.sales s WHERE s.state = 1 AND s.template_id IS NOT NULL
  UNION SELECT unnest(s.template_ids) FROM market.sales s WHERE s.state = 1 AND s.template_id IS NULL)`)

const statsKey = {
  table: 'assets.templates',
  alias: 't',
  key: 'template_id',
  type: 'integer',
} as const

function conditionsOf(
  { values, attributes }: EndpointContext<StatsValues['templates']>,
  { trigrams, lists }: MarketSetup,
): Sql[] {
  // `before` and `after` of this endpoint bound the times of the trades, not of the templates.
  const keys = boundaryFilters(
    without(values, ['before', 'after']),
    lists.statistics,
    statsKey,
    values.template_id,
  )
  return [
    ...oneOf('t.schema_name', values.schema_name),
    ...inCollections('t.collection_name', values),
    ...keys.map(({ condition }) => condition),
    ...templateConditions({ values, attributes, trigrams }),
    ...(values.hide_unlisted_templates === true ? [LISTED] : []),
  ]
}
