import type { Bindings } from '../../../database/index.ts'
import { whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { contains, NEVER, oneOf, templateDataConditions } from '../../assets/index.ts'
import type { ResolvedTemplates } from '../../assets/index.ts'
import { bindIntegers } from '../../paging/index.ts'
import type { Alternative } from './branches.ts'
import { anyOf } from './branches.ts'
import type { ResolvedAssets } from './listed-assets.ts'
import { detailConditions, MATCHES, withoutNames } from './listed-assets.ts'
import { HAS_ASSET } from './listing-table.ts'
import type { ListingTable } from './listing-table.ts'
import type { NamedTemplate, NamedTemplates } from './named-templates.ts'
import { traitConditions } from './traits.ts'

export { resolveListedAssets } from './listed-assets.ts'

/** Assets up to which they are put in a hash table, where an index alone tells which they are. */
const MAX_HASHED = 60_000
/** Assets up to which they are put in order, where the planner need not know how many they are. */
const MAX_ORDERED = 10_000

/**
 * How listings meet a filter on assets: `find` them by the assets that match, or `walk` through them in their order and
 * look at the assets of each.
 */
export type Way = 'find' | 'walk'

/** Conditions on the assets of a listing. */
export interface AssetFilter {
  readonly conditions: readonly string[]
  /** Those of the conditions that look at the assets, where others that an index serves leave out nearly all that they do. */
  readonly late: readonly string[]
  /** Together they say what one further condition says. */
  readonly alternatives: readonly Alternative[]
}

/**
 * The filters on assets as conditions on listings. One and the same asset meets every one of them (but the
 * searches in names, which ask about the names of all).
 */
export function assetFilter(
  { values: given, attributes }: Pick<EndpointContext, 'values' | 'attributes'>,
  table: ListingTable,
  trigrams: boolean,
  resolved: ResolvedAssets,
  bindings: Bindings,
  way: Way = 'find',
): AssetFilter {
  const values = withoutNames(table, given)
  const { templates } = resolved
  const conditions = [
    ...templateListConditions(table, values, bindings),
    ...(resolved.visible ? [] : hiddenCondition(table, resolved.hidden, bindings)),
    ...schemaCondition(table, values, bindings),
  ]
  const late: string[] = []
  const names = table.kind === 4 ? [] : nameConditions(given, trigrams, bindings)
  if (!resolved.named) conditions.push(...names)
  if (table.kind !== 4 && templates.kind !== 'ids') conditions.push(...flagConditions(values))
  if (resolved.ids) conditions.push(hasAnyAsset(table, resolved.ids, bindings))
  else if (resolved.isDetailed) {
    if (resolved.isForetold) {
      conditions.push(...traitConditions(values, attributes, bindings))
      // The index of the traits has these only.
      if (table.kind === 4) conditions.push(HAS_ASSET)
    }
    // All assets of a listing are of its collection, which the row of the listing tells.
    const isOnRow = table.kind !== 4 && (way === 'walk' || resolved.isForetold)
    const asked = isOnRow ? values.without(['collection_name']) : values
    const details = detailConditions(table, asked, attributes, resolved, trigrams, bindings)
    const exact = hasAssetLike(table, details, resolved, way)
    conditions.push(exact)
    if (resolved.isForetold) late.push(exact)
  } else if (templates.kind === 'many') {
    const wanted = templateDataConditions(values, attributes, trigrams, bindings)
    const own = table.kind === 4 ? 't.template_id = l.template_id' : 't.template_id = ANY(l.template_ids)'
    conditions.push(`EXISTS (SELECT FROM assets.templates t ${whereClause([own, ...wanted])})`)
  }
  const alternatives = resolved.named
    ? nameAlternatives(table, given, names, resolved.named, bindings)
    : resolved.visible
      ? visibleAlternatives(table, resolved.visible, resolved.hidden, bindings)
      : templateAlternatives(table, values, templates, bindings)
  if (way === 'find' || alternatives.length === 0) return { conditions, late, alternatives }
  return { conditions: [...conditions, ...anyOf(alternatives)], late, alternatives: [] }
}

/** Listings of a kind that contain one of some assets. */
function hasAnyAsset({ key, kind }: ListingTable, ids: readonly string[], bindings: Bindings): string {
  if (ids.length === 0) return NEVER
  return `${key} IN (SELECT x.listing_id FROM market.listing_assets x
    WHERE x.asset_id = ANY(${bindings.bind(ids, 'bigint[]')}) AND x.kind = ${kind})`
}

/** The listing contains an asset, `a`, that meets every condition. */
function hasAssetLike(
  { kind, key }: ListingTable,
  details: readonly string[],
  { expected = Infinity, isIndexOnly, isForetold, digests }: ResolvedAssets,
  way: Way,
): string {
  const contained = kind === 4 ? 'a.asset_id = l.asset_id' : 'a.asset_id = ANY(l.asset_ids)'
  const where = whereClause([contained, ...details])
  // A value is looked up row by row, when all other conditions are met.
  if (isForetold) return `(SELECT true FROM assets.assets a ${where} LIMIT 1)`
  const exists = `EXISTS (SELECT FROM assets.assets a ${where})`
  // A value of the one row of a key is had much sooner than a row that exists among some.
  const meets = details.length === 0 ? 'true' : details.join(' AND ')
  const single = (id: string): string => `(SELECT ${meets} FROM assets.assets a WHERE a.asset_id = ${id})`
  if (kind === 4 && expected === Infinity) return single('l.asset_id')
  if (way === 'find') {
    if (expected > MAX_HASHED) return exists
    // Put in order first, what lies side by side is looked up one after the other.
    if (digests && expected <= MAX_ORDERED)
      return `${key} = ANY(ARRAY(SELECT x.listing_id FROM market.listing_assets x WHERE x.kind = ${kind}
        AND x.asset_id = ANY(ARRAY(SELECT a.asset_id FROM assets.assets a ${whereClause(details)}))))`
    return `${key} IN (SELECT x.listing_id FROM assets.assets a
      JOIN market.listing_assets x ON x.asset_id = a.asset_id AND x.kind = ${kind} ${whereClause(details)})`
  }
  if (isIndexOnly === true && expected <= MAX_HASHED) {
    const hashed = `IN (SELECT a.asset_id FROM assets.assets a ${whereClause(details)})`
    return kind === 4 ? `l.asset_id ${hashed}` : ofListing(`l.asset_ids[1] ${hashed}`, exists)
  }
  return kind === 4 ? single('l.asset_id') : ofListing(single('l.asset_ids[1]'), exists)
}

/** What is asked of a single asset, and of bundles. */
function ofListing(single: string, bundle: string): string {
  return `CASE WHEN l.asset_count = 1 THEN ${single} ELSE ${bundle} END`
}

function schemaCondition(table: ListingTable, values: Values, bindings: Bindings): string[] {
  const schemas = values.texts('schema_name')
  if (!schemas) return []
  if (table.kind === 4) return oneOf('l.schema_name', schemas, bindings)
  return schemas.length === 0 ? [NEVER] : [`l.schema_names && ${bindings.bind(schemas, 'text[]')}`]
}

/** Single assets are found by the column of their template, bundles by the list of theirs. */
function templateAlternatives(
  table: ListingTable,
  values: Values,
  templates: ResolvedTemplates,
  bindings: Bindings,
): Alternative[] {
  if (values.isNull('template_id'))
    return [{ conditions: [table.kind === 4 ? NEVER : `l.template_ids = '{}'`] }]
  const given = values.ids('template_id')
  if (templates.kind !== 'ids' && !given) return []
  const list =
    templates.kind === 'ids' ? bindings.bind(templates.ids, 'integer[]') : bindIntegers(given ?? [], bindings)
  return ofTemplates(table, list, templates.kind === 'ids' ? 'wanted' : 'given')
}

/** The listings of some templates. @param list an array */
function ofTemplates(
  { kind }: ListingTable,
  list: string,
  templates: NonNullable<Alternative['templates']>,
): Alternative[] {
  const alone: Alternative = { conditions: [`l.template_id = ANY(${list})`], templates }
  if (kind === 4) return [alone]
  return [alone, { conditions: ['l.asset_count > 1', `l.template_ids && ${list}`], templates }]
}

/** The listings with no hidden template that have any, where few templates are left. */
function visibleAlternatives(
  table: ListingTable,
  visible: readonly number[],
  hidden: readonly number[],
  bindings: Bindings,
): Alternative[] {
  // Accounts own assets of the templates that have most listings: those that are left have fewer than the planner expects.
  const few = `ARRAY(SELECT unnest(${bindings.bind(visible, 'integer[]')}))`
  const [alone, bundles] = ofTemplates(table, few, 'wanted')
  if (!bundles) return [alone!]
  const conditions = [...bundles.conditions, ...hiddenCondition(table, hidden, bindings)]
  return [alone!, { ...bundles, conditions, isAlone: true }]
}

function templateListConditions(table: ListingTable, values: Values, bindings: Bindings): string[] {
  const black = values.ids('template_blacklist')
  if (!black || black.length === 0) return []
  const list = bindIntegers(black, bindings)
  return [table.kind === 4 ? `l.template_id <> ALL(${list})` : `NOT l.template_ids && ${list}`]
}

/** `hide_templates_by_accounts`. */
function hiddenCondition(table: ListingTable, hidden: readonly number[], bindings: Bindings): string[] {
  if (hidden.length === 0) return []
  // Put in a hash table: arrays are compared each with each.
  const isHidden = `IN (SELECT unnest(${bindings.bind(hidden, 'integer[]')}))`
  const alone = `(l.template_id IS NULL OR l.template_id NOT ${isHidden})`
  const bundle = `(SELECT bool_or(h ${isHidden}) FROM unnest(l.template_ids) h) IS NOT TRUE`
  return [table.kind === 4 ? alone : ofListing(alone, bundle)]
}

/** Few templates forbid something: listings without any of these need not be looked into. */
function flagConditions(values: Values): string[] {
  return (['transferable', 'burnable'] as const).flatMap((flag) =>
    values.bool(`is_${flag}`) === false
      ? [`l.template_ids && ARRAY(SELECT f.template_id FROM assets.templates f WHERE NOT f.${flag})`]
      : [],
  )
}

/** What templates tell of the names of their assets is not looked for in the names. */
function nameAlternatives(
  table: ListingTable,
  values: Values,
  names: readonly string[],
  { matching, nameless }: NamedTemplates,
  bindings: Bindings,
): Alternative[] {
  const ids = (list: readonly number[]): string => bindings.bind(list, 'integer[]')
  const found = ids(matching.map(({ id }) => id))
  const isToldName = values.text('sort') === 'name' && isCovered(table, values)
  const told: Alternative = {
    conditions: [`l.template_id = ANY(${found})`],
    templates: 'wanted',
    ...(isToldName ? { from: () => namedRows(table, matching, found, bindings) } : {}),
  }
  const untold: Alternative = { conditions: ['l.template_id IS NULL', ...names] }
  if (nameless.length === 0) return [told, untold]
  return [
    told,
    untold,
    { conditions: [`l.template_id = ANY(${ids(nameless)})`, ...names], templates: 'wanted' },
  ]
}

/** What an index of sales by their template has, with the name that the template tells. */
function namedRows(
  { key }: ListingTable,
  templates: readonly NamedTemplate[],
  ids: string,
  bindings: Bindings,
): string {
  const names = bindings.bind(
    templates.map(({ name }) => name),
    'text[]',
  )
  return `(SELECT s.${key.slice(2)}, s.state, s.offer_id, s.settlement_symbol, n.name FROM unnest(${ids}, ${names}) n (template_id, name)
    JOIN market.sales s USING (template_id)) l`
}

/** Filters that templates answer, and those that the index of sales by their template does. */
const COVERED = new Set([
  ...[
    'page',
    'limit',
    'sort',
    'order',
    'count',
    'state',
    'symbol',
    'search',
    'match',
    'show_seller_contracts',
  ],
  ...['collection_name', 'collection_whitelist', 'collection_blacklist'],
])

/** Whether the index of sales by their template has all that is asked of those whose template is known. */
export function isCovered({ kind }: ListingTable, values: Values): boolean {
  if (kind !== 1 || values.bool('show_seller_contracts') === false) return false
  return values.names().every((name) => COVERED.has(name))
}

function nameConditions(values: Values, trigrams: boolean, bindings: Bindings): string[] {
  const search = values.text('search')
  const conditions = MATCHES.flatMap((parameter) => {
    const match = values.text(parameter)
    return match ? [contains('l.asset_names', match, bindings)] : []
  })
  if (search) {
    // The operator is what the trigram index serves; its threshold is 0.6.
    conditions.push(
      trigrams
        ? `${bindings.bind(search, 'text')} <% l.asset_names`
        : contains('l.asset_names', search, bindings),
    )
  }
  return conditions
}
