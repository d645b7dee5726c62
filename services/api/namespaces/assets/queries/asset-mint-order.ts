import { Bindings, whereClause } from '../../../database/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import type { AssetSearch } from './asset-search.ts'
import { filtersOf, searchConditions, templateSideConditions } from './asset-search.ts'

/** Assets up to the end of a page, up to which it is looked for among the last assets of so many templates. */
const MOST = 1_000

/** Filters that all assets of a template pass, or none, or that nearly all pass. */
const OF_TEMPLATES = new Set([
  ...['collection_name', 'collection_whitelist', 'collection_blacklist', 'authorized_account', 'schema_name'],
  ...['template_whitelist', 'template_blacklist', 'hide_templates_by_accounts', 'has_template_buyoffer'],
  ...['is_transferable', 'is_burnable', 'match', 'search', 'data', 'template_data', 'hide_offers'],
])

/**
 * Assets with the highest mint numbers first, from the last assets of the templates that have the most: no asset of
 * another template can have a higher number than its template's supply, so what is above that is in its place. Without
 * this, assets of a few large templates that a filter leaves out would all be passed before the first that matches.
 * Undefined with filters that ask about more than the template.
 */
export function highestMints(search: AssetSearch): PageQuery | undefined {
  if (!filtersOf(search).every((name) => OF_TEMPLATES.has(name))) return undefined
  const bindings = new Bindings()
  const conditions = searchConditions(search, bindings)
  const ofTemplate = whereClause(templateSideConditions(search, bindings))
  return {
    key: 'a.asset_id',
    from: 'assets.assets a',
    conditions,
    order: '',
    ordered: (most) => lastOfTemplates(conditions, ofTemplate, Math.min(most, MOST)),
    bindings,
  }
}

/** Within a template the numbers follow the ids. */
function lastOfTemplates(conditions: readonly string[], ofTemplate: string, most: number): string {
  const within = whereClause(['a.template_id = t.template_id', ...conditions])
  return `WITH t AS MATERIALIZED (SELECT t.template_id, t.issued_supply FROM assets.templates t ${ofTemplate}
      ORDER BY t.issued_supply DESC, t.template_id DESC LIMIT ${most + 1}),
    beyond AS (SELECT CASE WHEN count(*) > ${most} THEN min(issued_supply) ELSE 0 END AS supply FROM t)
    SELECT x.asset_id AS k FROM t CROSS JOIN LATERAL (SELECT a.asset_id, a.template_mint FROM assets.assets a ${within}
      ORDER BY a.asset_id DESC LIMIT ${most}) x
    WHERE x.template_mint > (SELECT supply FROM beyond)
    ORDER BY x.template_mint DESC, x.asset_id LIMIT ${most}`
}
