import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { COLLECTION_VERSION, collectionFragment, collectionObject, contains } from '../../assets/index.ts'
import { pageWindow } from '../../paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { edgesOf, inRange, inWholeDays, tradeRange } from './trade-range.ts'
import type { TradeRange } from './trade-range.ts'

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
  const rows = edgesOf(range).flatMap((edge) => [
    `SELECT n.schema_name, 1::bigint AS sales, k.price::numeric AS sale_volume, 0::bigint AS listings
      FROM market.trades k JOIN market.sales l ON l.sale_id = k.listing_id CROSS JOIN unnest(coalesce(l.schema_names, array_remove(ARRAY[l.schema_name], NULL))) AS n(schema_name)
      WHERE k.kind = 1 AND k.collection_name = ${collection} AND k.token_symbol = ${token}
        AND ${inRange('k.trade_time', edge, bindings).join(' AND ')}`,
    `SELECT n.schema_name, 0, 0, 1 FROM market.sales l CROSS JOIN unnest(coalesce(l.schema_names, array_remove(ARRAY[l.schema_name], NULL))) AS n(schema_name)
      WHERE l.collection_name = ${collection} AND l.settlement_symbol = ${token} AND l.state IN (1, 4)
        AND ${inRange('l.created_at_time', edge, bindings).join(' AND ')}`,
  ])
  if (range.days[0] < range.days[1]) {
    rows.push(`SELECT k.schema_name, k.sales, k.sale_volume, k.listings FROM market.schema_days k
      WHERE k.token_symbol = ${token} AND k.collection_name = ${collection}
        AND ${inWholeDays('k.day', range, bindings).join(' AND ')}`)
  }
  return `SELECT ${collection} AS collection_name, r.schema_name, sum(r.sales) AS sales, sum(r.sale_volume) AS sale_volume,
      sum(r.listings) AS listings
    FROM (${rows.join(' UNION ALL ')}) r GROUP BY r.schema_name`
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
    ? tradesInRange(range, conditions, bindings)
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
  const found = await setup.assets.shared.load(session, new Map([[collectionFragment, wanted]]))
  const results = rows.flatMap(([own, schema, name]) => {
    const light = found.get(collectionFragment, name)
    return light
      ? [`${own.slice(0, -1)},"schema":${schema.slice(0, -1)},"collection":${collectionObject(light)}}}`]
      : []
  })
  return `[${results.join(',')}]`
}

/** A SELECT of schemas with their trades in a range. */
function tradesInRange(range: TradeRange, conditions: readonly string[], bindings: Bindings): string {
  const rows = edgesOf(range).map(
    (edge) => `SELECT k.schema_name, 1::bigint AS trades, k.price::numeric AS volume FROM market.trades k
      ${whereClause([...conditions, 'k.template_id IS NOT NULL', ...inRange('k.trade_time', edge, bindings)])}`,
  )
  if (range.days[0] < range.days[1]) {
    rows.push(`SELECT k.schema_name, k.trades, k.volume FROM market.schema_days k
      ${whereClause([...conditions, ...inWholeDays('k.day', range, bindings)])}`)
  }
  return `SELECT r.schema_name, sum(r.trades) AS trades, sum(r.volume) AS volume
    FROM (${rows.join(' UNION ALL ')}) r GROUP BY r.schema_name`
}
