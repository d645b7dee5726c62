import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import { directionOf, pageWindow } from '../../paging/index.ts'
import type { MarketSetup } from '../setup.ts'
import { assetFilter, resolveListedAssets } from './asset-filter.ts'
import { assetNumberConditions, listingConditions } from './listing-conditions.ts'
import { listingTables } from './listing-table.ts'
import { readSalePricing, salePriceBranches } from './sale-prices.ts'

/**
 * The ids of the cheapest listed sale of each template that a request asks for: sales of one asset each; of several at
 * the same price the latest.
 */
export async function selectCheapest(context: EndpointContext, { trigrams }: MarketSetup): Promise<string[]> {
  const { session, values } = context
  const window = pageWindow(values)
  if (!window) return []
  const bindings = new Bindings()
  const table = listingTables.sale
  const resolved = await resolveListedAssets(context, table, trigrams)
  // All listed sales are looked at: a hash table tells which of them have one of many assets.
  const way = resolved.isIndexOnly === true ? 'walk' : 'find'
  const assets = assetFilter(context, table, trigrams, resolved, bindings, way)
  const conditions = [
    'l.state = 1',
    'l.template_id IS NOT NULL',
    ...listingConditions(table, values, bindings),
    ...assetNumberConditions(values, bindings),
    ...assets.conditions,
    // Every sale here is of one asset, which the first alternative is made for.
    ...(assets.alternatives[0] ?? []),
  ]
  const branches = salePriceBranches(await readSalePricing(session, values, true), bindings)
  const rows = branches.map(
    (branch) =>
      `SELECT l.template_id, l.sale_id, ${branch.value} AS price FROM ${table.from}
        ${whereClause([...conditions, ...branch.conditions])}`,
  )
  const direction = directionOf(values)
  const order =
    values.text('sort') === 'price'
      ? `c.price ${direction} NULLS LAST, c.template_id`
      : `c.template_id ${direction}`
  const found = await session.query<[string]>({
    text: `SELECT c.sale_id::text FROM (
        SELECT DISTINCT ON (r.template_id) r.template_id, r.sale_id, r.price FROM (${rows.join(' UNION ALL ')}) r
        ORDER BY r.template_id, r.price, r.sale_id DESC) c
      ORDER BY ${order} LIMIT ${window.limit} OFFSET ${window.offset}`,
    values: bindings.values,
  })
  return found.map(([id]) => id)
}
