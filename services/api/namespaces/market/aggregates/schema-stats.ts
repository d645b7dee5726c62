import type { Sql } from '../../../sql/index.ts'
import { bind, joinSql, raw, sql, where } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { collectionObject, collectionRow } from '../../nft/records/index.ts'
import { jsonArray } from '../../../json/index.ts'
import type { Json } from '../../../json/index.ts'
import { containsText, isText } from '../../nft/conditions/index.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { edgesOf, inRange, inWholeDays, tradeRange } from './trade-range.ts'
import { sumInRange } from './trade-sums.ts'
import type { StatsValues } from './parameters.ts'

/**
 * Number of sold sales, sum of their prices and number of open listings of each schema of a collection, as JSON text.
 * The parameter `sort` orders the schemas by number of listings or by sum of prices, largest first.
 */
export async function schemaStats(
  { session, values }: EndpointContext<StatsValues['schemas']>,
  setup: MarketSetup,
  symbol: string,
): Promise<string> {
  const window = pageWindow(values)
  const order = raw(`k.${values.sort === 'listings' ? 'listings' : 'sale_volume'} DESC, k.schema_name`)
  const match = values.match
  const conditions = [
    raw('k.sales + k.listings > 0'),
    ...(match === undefined ? [] : [containsText(raw('k.schema_name'), match)]),
  ]
  const rows = await session.query<[string]>(
    sql`SELECT coalesce(json_agg(json_build_object('contract', ${bind(setup.assets.contract, 'text')},
        'collection_name', ${bind(values.collection_name, 'text')}, 'schema_name', k.schema_name, 'volume', k.sale_volume::text,
        'sales', k.sales::text, 'listings', k.listings::text) ORDER BY ${order}), '[]')::text
      FROM (SELECT * FROM (${saleSums(values, symbol)}) k ${where(conditions)}
        ORDER BY ${order} LIMIT ${raw(window.limit)} OFFSET ${raw(window.offset)}) k`.render(),
  )
  return rows[0]![0]
}

/**
 * Query of each schema's number of sold sales, sum of their prices, and number of open listings. A bundle counts once
 * for each of its schemas.
 */
function saleSums(values: StatsValues['schemas'], symbol: string): Sql {
  const ofSchemas = (row: string, token: string): Sql[] => [
    ...isText(`${row}.collection_name`, values.collection_name),
    ...isText(`${row}.${token}`, symbol),
  ]
  const range = tradeRange(values)
  if (!range) {
    return sql`SELECT k.schema_name, k.sales, k.sale_volume, k.listings FROM market.schema_stats k
      ${where(ofSchemas('k', 'token_symbol'))}`
  }
  const schemas = raw(
    'unnest(coalesce(l.schema_names, array_remove(ARRAY[l.schema_name], NULL))) AS n(schema_name)',
  )
  const rows = edgesOf(range).flatMap((edge) => [
    sql`SELECT n.schema_name, 1::bigint AS sales, k.price::numeric AS sale_volume, 0::bigint AS listings
      FROM market.trades k JOIN market.sales l ON l.sale_id = k.listing_id CROSS JOIN ${schemas}
      ${where([raw('k.kind = 1'), ...ofSchemas('k', 'token_symbol'), ...inRange('k.trade_time', edge)])}`,
    sql`SELECT n.schema_name, 0, 0, 1 FROM market.sales l CROSS JOIN ${schemas}
      ${where([raw('l.state IN (1, 4)'), ...ofSchemas('l', 'settlement_symbol'), ...inRange('l.created_at_time', edge)])}`,
  ])
  if (range.days[0] < range.days[1]) {
    rows.push(sql`SELECT k.schema_name, k.sales, k.sale_volume, k.listings FROM market.schema_days k
      ${where([...ofSchemas('k', 'token_symbol'), ...inWholeDays('k.day', range)])}`)
  }
  return sql`SELECT r.schema_name, sum(r.sales) AS sales, sum(r.sale_volume) AS sale_volume, sum(r.listings) AS listings
    FROM (${joinSql(rows, ' UNION ALL ')}) r GROUP BY r.schema_name`
}

/**
 * Number of trades of single assets and sum of their prices, of each schema of a collection, as JSON text. The
 * parameter `sort` orders the schemas by number or by sum, largest first.
 */
export async function schemaStatsV2(
  { session, values }: EndpointContext<StatsValues['schemasV2']>,
  setup: MarketSetup,
  symbol: string,
): Promise<Json> {
  const window = pageWindow(values)
  const ofCollection = isText('k.collection_name', values.collection_name)
  const [token] = isText('k.token_symbol', symbol)
  const range = tradeRange(values)
  const sum = { token: token!, key: 'schema_name', conditions: ofCollection, days: 'market.schema_days' }
  // market.schema_stats and market.schema_days count only trades of assets with a template. The query of market.trades
  // has the same condition.
  const sums = range
    ? sumInRange({ ...sum, ofTrades: [raw('k.template_id IS NOT NULL')] }, range)
    : sql`SELECT k.schema_name AS key, k.trades, k.volume FROM market.schema_stats k ${where([token!, ...ofCollection])}`
  const value = raw(values.sort === 'sales' ? 'k.trades' : 'k.volume')
  const rows = await session.query<[string, string, string, string]>(
    sql`SELECT json_build_object('schema_name', s.schema_name, 'volume', coalesce(k.volume, 0)::text,
        'sales', coalesce(k.trades, 0)::text)::text,
        json_build_object('contract', ${bind(setup.assets.contract, 'text')}, 'schema_name', s.schema_name,
          'format', s.format, 'types', coalesce(s.types, '[]'), 'collection_name', s.collection_name,
          'authorized_accounts', c.authorized_accounts, 'created_at_time', nullif(s.created_at_time, 0),
          'created_at_block', nullif(s.created_at_block, 0))::text,
        c.collection_name, ${raw(collectionRow.kind.version)}
      FROM assets.schemas s JOIN assets.collections c USING (collection_name)
        JOIN assets.schema_counts n ON n.collection_name = s.collection_name AND n.schema_name = s.schema_name
        LEFT JOIN (${sums}) k ON k.key = s.schema_name
      ${where([...isText('s.collection_name', values.collection_name), raw('n.minted > n.burned')])}
      ORDER BY coalesce(${value}, 0) DESC, s.schema_name
      LIMIT ${raw(window.limit)} OFFSET ${raw(window.offset)}`.render(),
  )
  const wanted = new Map(rows.map((row) => [row[2], row[3]]))
  const found = await setup.assets.shared.loadAll(session, new Map([[collectionRow.kind, wanted]]))
  const results = rows.flatMap(([own, schema, name]) => {
    const light = found.get(collectionRow.kind, name)
    return light
      ? [[`${own.slice(0, -1)},"schema":${schema.slice(0, -1)},"collection":`, collectionObject(light), '}}']]
      : []
  })
  return jsonArray(results)
}
