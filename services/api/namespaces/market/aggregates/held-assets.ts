import { allOf, bind, raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { foundConditions } from '../../../planner/filters/index.ts'
import { assetList, templateScope } from '../../nft/asset-lists/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import type { AssetValues } from '../../nft/parameters/index.ts'
import type { MarketSetup } from '../setup.ts'

/**
 * Filters on assets for which the template counters have a number of their own. A filter that selects templates is not
 * listed here, because the query reads only the counters of the selected templates.
 */
const counted = new Set(['burned'])

/**
 * Query of `template_id` and `assets`: the number of matching assets of each template. Read from the template counters
 * if they cover every filter, otherwise counted from the assets.
 * @param owner only assets that this account owns.
 */
export async function heldAssets(
  { assets, trigrams }: MarketSetup,
  context: EndpointContext<AssetValues>,
  owner?: string,
): Promise<Sql> {
  const { values } = context
  const { list, request } = await assetList(assets.lists, trigrams, context)
  const { conditions, applied } = templateScope(request)
  const isCounted = list.filters.every(({ name }) => counted.has(name) || applied.has(name))
  if (owner === undefined && isCounted) {
    const number = raw(numberOf(values.burned))
    const all = [sql`${number} > 0`, ...conditions]
    return sql`SELECT k.template_id, ${number} AS assets
      FROM assets.template_counts k JOIN assets.templates t USING (template_id) ${where(all)}`
  }
  const all = [
    raw('a.template_id IS NOT NULL'),
    ...(owner === undefined ? [] : [sql`a.owner = ${bind(owner, 'text')}`]),
    ...foundConditions(list.filters),
  ]
  return sql`SELECT a.template_id, count(*) AS assets FROM assets.assets a WHERE ${allOf(all)} GROUP BY 1`
}

/** SQL of the number of assets of a template: all, burned, or not burned. */
function numberOf(burned: boolean | undefined): string {
  if (burned === undefined) return 'k.minted'
  return burned ? 'k.burned' : '(k.minted - k.burned)'
}
