import { allOf, bind, raw, sql, where } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { foundConditions } from '../../../planner/filters/index.ts'
import { assetList, templateScope } from '../../nft/asset-lists/index.ts'
import type { EndpointContext } from '../../../endpoint/index.ts'
import type { AssetValues } from '../../nft/parameters/index.ts'
import type { MarketSetup } from '../setup.ts'

/**
 * Filters that `assets.template_counts` supports in addition to the filters that `templateScope` applies. `burned` is
 * supported, because the table stores the number of burned assets of each template.
 */
const counted = new Set(['burned'])

/**
 * Query with the columns `template_id` and `assets`, the number of matching assets of the template. The query reads the
 * template counters if they cover every filter. Otherwise the query counts the assets.
 * @param owner account that owns the counted assets; undefined for all owners.
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

/**
 * SQL expression on the counters of a template (alias `k`): number of burned assets if `burned` is true, of other
 * assets if `burned` is false, of all minted assets if `burned` is undefined.
 */
function numberOf(burned: boolean | undefined): string {
  if (burned === undefined) return 'k.minted'
  return burned ? 'k.burned' : '(k.minted - k.burned)'
}
