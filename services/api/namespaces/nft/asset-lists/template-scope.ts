import { bind, bindIntegers, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import { estimateRows } from '../../../planner/filters/index.ts'
import { wantedCollections, hasTemplateBuyoffer, isHeldByNone, isNoneOfIds } from '../conditions/index.ts'
import type { AssetRequest } from './asset-filters.ts'
import { ASSETS, TEMPLATES } from '../tables.ts'
import { TEMPLATE_DATA, AUTHORIZED, schemaConditions, schemaFilters } from '../filters/index.ts'

/**
 * The templates whose assets can match a request for assets: candidate templates. An access path with `templates` as
 * the driving table reads only the assets of these templates.
 */
export interface TemplateScope {
  /**
   * Conditions on a template, whose SQL alias is `t`. A template that fails them has no asset that matches the request.
   */
  readonly conditions: readonly Sql[]
  /**
   * Names of the filters on assets that `conditions` already apply. Assets of a template that passes `conditions` also
   * pass these filters.
   */
  readonly applied: ReadonlySet<string>
  /**
   * Whether no filter on collection names, schema names, an authorized account or template data excludes templates.
   * `templates` is then the number of all templates.
   */
  readonly isWide: boolean
  /** Estimated number of templates that pass `conditions`. The estimate ignores filters on template ids. */
  readonly templates: number
  /**
   * Estimated number of assets in the requested collections and schemas. The templates that pass `conditions` have at
   * most this many assets.
   */
  readonly assets: number
}

/**
 * Turns the filters of a request for assets into conditions on templates. A template that fails the conditions has no
 * asset that matches the request.
 */
export function templateScope({ values, templates, statistics }: AssetRequest): TemplateScope {
  const conditions = schemaConditions(values, 't')
  const wanted = wantedCollections(values)
  const schemas = values.schema_name
  const ofSchemas = schemaFilters(values, statistics)
  const applied = new Set(ofSchemas.map(({ name }) => name))
  for (const name of ['template_id', 'template_whitelist'] as const) {
    const ids = values[name]
    if (!ids) continue
    conditions.push(sql`t.template_id = ANY(${bindIntegers(ids)})`)
    applied.add(name)
  }
  if (templates.kind === 'ids') {
    conditions.push(sql`t.template_id = ANY(${bindIntegers(templates.ids.map(BigInt))})`)
    applied.add(TEMPLATE_DATA)
  }
  const blacklist = values.template_blacklist
  if (blacklist && blacklist.length > 0) {
    conditions.push(isNoneOfIds(raw('t.template_id'), blacklist))
    applied.add('template_blacklist')
  }
  for (const flag of ['transferable', 'burnable'] as const) {
    if (values[`is_${flag}` as const] !== true) continue
    conditions.push(raw(`t.${flag}`))
    applied.add(`is_${flag}`)
  }
  // A template has no mint number above its supply. Templates with a supply below the lowest requested mint number are
  // therefore excluded.
  const least = values.template_mint ?? values.min_template_mint
  if (least !== undefined) conditions.push(sql`t.issued_supply >= ${bind(least, 'bigint')}`)
  if (values.has_template_buyoffer !== undefined) {
    conditions.push(hasTemplateBuyoffer(raw('t.template_id'), values.has_template_buyoffer))
    applied.add('has_template_buyoffer')
  }
  const hidden = values.hide_templates_by_accounts
  if (hidden && hidden.length > 0) {
    conditions.push(isHeldByNone(raw('t.template_id'), hidden))
    applied.add('hide_templates_by_accounts')
  }
  const all = statistics.rows(TEMPLATES)
  const share = Math.min(
    wanted ? statistics.equal(TEMPLATES, 'collection_name', wanted) / all : 1,
    schemas ? statistics.equal(TEMPLATES, 'schema_name', schemas) / all : 1,
    values.authorized_account === undefined ? 1 : AUTHORIZED,
    templates.kind === 'ids' ? templates.ids.length / all : 1,
  )
  return {
    conditions,
    applied,
    isWide: share === 1,
    templates: all * share,
    assets: estimateRows(statistics.rows(ASSETS), ofSchemas),
  }
}
