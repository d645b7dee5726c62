import { without } from '../../../../core/endpoint/index.ts'
import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { raw, sql, where } from '../../../sql/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { jsonString } from '../../../json/index.ts'
import { oneOf, oneOfIds } from '../../nft/conditions/index.ts'
import { pageWindow } from '../../nft/paging/index.ts'
import { priceSumRecord, templatePriceRecord } from '../records/trade-records.ts'
import type { MarketSetup } from '../setup.ts'
import { heldAssets } from './held-assets.ts'
import type { TemplatePriceValues } from '../parameters.ts'
import type { AssetValues } from '../../nft/parameters/index.ts'

/** One page of the prices of templates as JSON text, ordered by template and token. */
export async function templatePrices(
  session: Session,
  setup: MarketSetup,
  values: TemplatePriceValues,
): Promise<string> {
  const window = pageWindow(values)
  const schemas = values.schema_name
  const conditions = [
    ...oneOf('p.collection_name', values.collection_name),
    ...oneOf('p.token_symbol', values.symbol),
    ...oneOfIds('p.template_id', values.template_id),
    ...(schemas
      ? [
          sql`EXISTS (SELECT FROM assets.templates t
            ${where([raw('t.template_id = p.template_id'), ...oneOf('t.schema_name', schemas)])})`,
        ]
      : []),
  ]
  const rows = await session.query<[string | null]>(
    sql`SELECT ${raw(templatePriceRecord.rows('p.template_id, p.token_symbol'))}
      FROM (SELECT * FROM market.template_prices p ${where(conditions)}
        ORDER BY p.template_id, p.token_symbol LIMIT ${raw(window.limit)} OFFSET ${raw(window.offset)}) p
        JOIN market.tokens y USING (token_symbol)`.render(),
  )
  return `[${templatePriceRecord.read(rows[0]![0], setup.assets.settings.given).join(',')}]`
}

const SUMS = priceSumRecord.rows('y.token_symbol')

/**
 * Query that sums the prices of assets, grouped by the columns `by` and the token. A suggested price counts at most
 * `cap`: the lowest price of the listed sales that an oracle prices, at the current rate. The query computes `cap`
 * inline, because a call of the function `market.capped` for each price takes five times as long.
 * @param held query with the columns `template_id` and `assets`, the number of assets of the template.
 */
const sums = (held: Sql, by: Sql): Sql =>
  sql`SELECT ${by} p.token_symbol, sum(p.median * n.assets) AS median,
    sum(p.average * n.assets) AS average, sum(p.min * n.assets) AS min, sum(p.max * n.assets) AS max,
    sum(least(p.suggested_median, c.cap) * n.assets) AS suggested_median,
    sum(least(p.suggested_average, c.cap) * n.assets) AS suggested_average
  FROM (${held}) n JOIN market.template_prices p USING (template_id)
    CROSS JOIN LATERAL (
      SELECT min(market.settlement_price((p.oracle_floors ->> r.listing_symbol)::bigint, r.factor, r.divisor)) AS cap
      FROM rates r WHERE p.oracle_floors IS NOT NULL AND r.settlement_symbol = p.token_symbol) c
  GROUP BY ${by} p.token_symbol`

const RATES = raw('WITH rates AS MATERIALIZED (SELECT * FROM market.rates)')

/**
 * Sums of the prices of all assets that match the request, by token, as JSON text. The price of an asset is the price
 * of its template.
 */
export async function sumPrices(setup: MarketSetup, context: EndpointContext<AssetValues>): Promise<string> {
  const held = await heldAssets(setup, context)
  const [row] = await context.session.query<[string | null]>(
    sql`${RATES} SELECT ${raw(SUMS)}
      FROM (${sums(held, raw(''))}) s JOIN market.tokens y USING (token_symbol)`.render(),
  )
  return `[${priceSumRecord.read(row?.[0]).join(',')}]`
}

/**
 * Sums of the prices of the account's assets that match the request, by collection and token, as JSON text. The price
 * of an asset is the price of its template.
 */
export async function inventoryPrices(
  setup: MarketSetup,
  { session, values, attributes }: EndpointContext<AssetValues & { readonly account: string }>,
): Promise<string> {
  const filters = without(values, ['account'])
  const held = await heldAssets(setup, { session, values: filters, attributes }, values.account)
  const rows = await session.query<[string, string]>(
    sql`${RATES} SELECT s.collection_name, ${raw(SUMS)}
      FROM (${sums(held, raw('p.collection_name,'))}) s JOIN market.tokens y USING (token_symbol)
      GROUP BY s.collection_name ORDER BY s.collection_name`.render(),
  )
  const names = rows.map(([name]) => name)
  const collections = await setup.assets.records.collection.readKeys(session, names)
  const results = rows.flatMap(([name, prices]) => {
    const collection = collections.get(name)
    return collection === undefined
      ? []
      : [`{"collection":${jsonString(collection)},"prices":[${priceSumRecord.read(prices).join(',')}]}`]
  })
  return `{"collections":[${results.join(',')}]}`
}
