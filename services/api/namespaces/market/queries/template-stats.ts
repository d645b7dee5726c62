import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { jsonString } from '../../../json/index.ts'
import {
  COLLECTION_VERSION,
  collectionLists,
  contains,
  oneOf,
  renderTemplates,
  templateDataConditions,
} from '../../assets/index.ts'
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
  const records = await renderTemplates(session, setup.assets.contract, setup.assets.parts, ids)
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

/** Sales and listings by schema of a collection as JSON text, the most first. */
export async function schemaStats(
  { session, values }: EndpointContext,
  setup: MarketSetup,
  symbol: string,
): Promise<string> {
  const window = pageWindow(values)
  if (!window) return '[]'
  const bindings = new Bindings()
  const value = values.text('sort') === 'listings' ? 'k.listings' : 'k.sale_volume'
  const match = values.text('match')
  const conditions = [
    'k.sales + k.listings > 0',
    ...(match === undefined ? [] : [contains('k.schema_name', match, bindings)]),
  ]
  const rows = await session.query<[string]>({
    text: `SELECT coalesce(json_agg(json_build_object('contract', ${bindings.bind(setup.assets.contract, 'text')},
        'collection_name', k.collection_name, 'schema_name', k.schema_name, 'volume', k.sale_volume::text,
        'sales', k.sales::text, 'listings', k.listings::text) ORDER BY ${value} DESC, k.schema_name), '[]')::text
      FROM (SELECT * FROM (${saleSums(values, symbol, bindings)}) k ${whereClause(conditions)}
        ORDER BY ${value} DESC, k.schema_name LIMIT ${window.limit} OFFSET ${window.offset}) k`,
    values: bindings.values,
  })
  return rows[0]![0]
}

/** A SELECT of schemas with their sold sales and open listings; a bundle counts once for each of its schemas. */
function saleSums(values: Values, symbol: string, bindings: Bindings): string {
  const collection = bindings.bind(values.text('collection_name')!, 'text')
  const token = bindings.bind(symbol, 'text')
  const range = tradeRange(values)
  if (!range) {
    return `SELECT k.collection_name, k.schema_name, k.sales, k.sale_volume, k.listings FROM market.schema_stats k
      WHERE k.token_symbol = ${token} AND k.collection_name = ${collection}`
  }
  const sold = inRange('l.updated_at_time', range, bindings).join(' AND ')
  const listed = inRange('l.created_at_time', range, bindings).join(' AND ')
  return `SELECT l.collection_name, n.schema_name, count(*) FILTER (WHERE l.state = 3) AS sales,
      coalesce(sum(l.price) FILTER (WHERE l.state = 3), 0) AS sale_volume,
      count(*) FILTER (WHERE l.state IN (1, 4)) AS listings
    FROM market.sales l CROSS JOIN unnest(l.schema_names) AS n(schema_name)
    WHERE l.collection_name = ${collection} AND l.settlement_symbol = ${token}
      AND ((l.state = 3 AND ${sold}) OR (l.state IN (1, 4) AND ${listed}))
    GROUP BY l.collection_name, n.schema_name`
}

/** Trades of single assets by schema of a collection as JSON text, the most first. */
export async function schemaStatsV2(
  { session, values }: EndpointContext,
  setup: MarketSetup,
  symbol: string,
): Promise<string> {
  const window = pageWindow(values)
  if (!window) return '[]'
  const bindings = new Bindings()
  const collection = bindings.bind(values.text('collection_name')!, 'text')
  const token = bindings.bind(symbol, 'text')
  const range = tradeRange(values)
  const conditions = [`k.collection_name = ${collection}`, `k.token_symbol = ${token}`]
  const sums = range
    ? `SELECT k.schema_name, count(*) AS trades, sum(k.price) AS volume FROM market.trades k
        ${whereClause([...conditions, 'k.template_id IS NOT NULL', ...inRange('k.trade_time', range, bindings)])}
        GROUP BY k.schema_name`
    : `SELECT k.schema_name, k.trades, k.volume FROM market.schema_stats k ${whereClause(conditions)}`
  const value = values.text('sort') === 'sales' ? 'trades' : 'volume'
  const rows = await session.query<[string, string, string, string]>({
    text: `SELECT json_build_object('schema_name', s.schema_name, 'volume', coalesce(k.volume, 0)::text,
        'sales', coalesce(k.trades, 0)::text)::text,
        json_build_object('contract', ${bindings.bind(setup.assets.contract, 'text')}, 'schema_name', s.schema_name,
          'format', s.format, 'types', coalesce(s.types, '[]'), 'collection_name', s.collection_name,
          'authorized_accounts', c.authorized_accounts, 'created_at_time', s.created_at_time,
          'created_at_block', s.created_at_block)::text,
        c.collection_name, ${COLLECTION_VERSION}
      FROM assets.schemas s JOIN assets.collections c USING (collection_name)
        JOIN assets.schema_counts n ON n.collection_name = s.collection_name AND n.schema_name = s.schema_name
        LEFT JOIN (${sums}) k ON k.schema_name = s.schema_name
      WHERE s.collection_name = ${collection} AND n.minted > n.burned
      ORDER BY coalesce(k.${value}, 0) DESC, s.schema_name LIMIT ${window.limit} OFFSET ${window.offset}`,
    values: bindings.values,
  })
  const wanted = new Map(rows.map((row) => [row[2], row[3]]))
  const collections = await setup.assets.parts.lightCollections.load(session, wanted)
  const results = rows.flatMap(([own, schema, name]) => {
    const light = collections.get(name)
    return light ? [`${own.slice(0, -1)},"schema":${schema.slice(0, -1)},"collection":${light[0]!}}}`] : []
  })
  return `[${results.join(',')}]`
}
