import { raw, sql } from '../../../sql/index.ts'
import { nothing } from '../../../planner/filters/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import { hasTemplateBuyoffer, isHeldByNone } from '../conditions/index.ts'
import type { AssetValues } from '../parameters/index.ts'
import { ASSETS } from '../tables.ts'

/** Condition of `hide_offers`: the asset with the SQL alias `a` is in no open offer. */
export const NOT_OFFERED =
  raw(`NOT EXISTS (SELECT FROM assets.open_offer_assets x JOIN assets.offers p USING (offer_id)
  WHERE x.asset_id = a.asset_id AND p.state = 0)`)

/**
 * Filters of the parameters `has_backed_tokens`, `only_duplicate_templates`, `has_template_buyoffer`,
 * `hide_templates_by_accounts` and `hide_offers`. Each filter reads rows other than the asset's own row.
 */
export function relatedFilters(values: AssetValues, statistics: Statistics): Filter[] {
  const all = statistics.rows(ASSETS)
  const filters: Filter[] = []
  const backed = values.has_backed_tokens
  if (backed !== undefined) {
    const some = statistics.rows('assets.backed_tokens')
    const exists = raw('EXISTS (SELECT FROM assets.backed_tokens k WHERE k.asset_id = a.asset_id)')
    filters.push({
      name: 'has_backed_tokens',
      condition: backed ? exists : sql`NOT ${exists}`,
      ...(backed ? { found: raw('a.asset_id IN (SELECT k.asset_id FROM assets.backed_tokens k)') } : {}),
      rows: backed ? some : Math.max(1, all - some),
      isIndexed: backed,
    })
  }
  // A duplicate is an asset whose owner has an asset of the same template with a lower id. Burned assets have no owner,
  // so no burned asset is a duplicate.
  if (values.only_duplicate_templates === true && values.burned === true)
    filters.push(nothing('only_duplicate_templates'))
  else if (values.only_duplicate_templates === true) {
    filters.push({
      name: 'only_duplicate_templates',
      condition:
        raw(`EXISTS (SELECT FROM assets.assets d WHERE d.owner = a.owner AND d.schema_key = a.schema_key
        AND d.template_id = a.template_id AND d.asset_id < a.asset_id)`),
      rows: all / 2,
      isIndexed: false,
      visits: 1,
    })
  }
  const isWanted = values.has_template_buyoffer
  if (isWanted !== undefined) {
    filters.push({
      name: 'has_template_buyoffer',
      condition: hasTemplateBuyoffer(raw('a.template_id'), isWanted),
      rows: all / 2,
      isIndexed: false,
      visits: 1,
    })
  }
  const hidden = values.hide_templates_by_accounts
  if (hidden && hidden.length > 0) {
    filters.push({
      name: 'hide_templates_by_accounts',
      condition: sql`(a.template_id IS NULL OR ${isHeldByNone(raw('a.template_id'), hidden)})`,
      rows: all * 0.8,
      isIndexed: false,
    })
  }
  if (values.hide_offers === true) {
    filters.push({
      name: 'hide_offers',
      condition: NOT_OFFERED,
      rows: all * 0.95,
      isIndexed: false,
    })
  }
  return filters
}
