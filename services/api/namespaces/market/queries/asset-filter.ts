import type { Session } from '../../../database/index.ts'
import { Bindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter, EndpointContext, Values } from '../../../endpoint/index.ts'
import {
  assetConditions,
  contains,
  NEVER,
  oneOf,
  ownDataConditions,
  resolvedTemplateCondition,
  resolveTemplates,
  templateDataConditions,
} from '../../assets/index.ts'
import type { ResolvedTemplates } from '../../assets/index.ts'
import { bindIntegers } from '../../paging/index.ts'
import type { ListingTable } from './listing-table.ts'

/** Assets up to which a filter on them is answered through their ids. */
const MAX_RESOLVED = 1_000

/** Parameters that ask about an asset itself, not only about what the row of a listing tells of its assets. */
const DETAILS = [
  'owner',
  'burned',
  'is_transferable',
  'is_burnable',
  'minter',
  'initial_receiver',
  'burner',
  'match_immutable_name',
  'match_mutable_name',
]

/**
 * Of these, the ones that an index of the assets finds. Counting what an unindexed one matches could take a look at
 * every asset.
 */
const INDEXED = ['owner', 'minter', 'initial_receiver', 'burner']

/** Searches that the names kept with a listing answer: the text is in the name of one of its assets. */
const MATCHES = ['match', 'match_immutable_name', 'match_mutable_name']
const NAMES = [...MATCHES, 'search']

/** What the filters on assets mean for listings. */
interface ResolvedAssets {
  readonly templates: ResolvedTemplates
  /** The assets that match, all of them; undefined when they are too many to name, or nothing asks about them. */
  readonly ids?: readonly string[]
  /** The assets must be looked at. */
  readonly isDetailed: boolean
}

/** Conditions on the assets of a listing. */
export interface AssetFilter {
  readonly conditions: readonly string[]
  /**
   * Sets of conditions, of which a row meets at most one: together they say what one further condition says. Each is
   * served by an index of its own.
   */
  readonly alternatives: readonly (readonly string[])[]
}

/**
 * The filters on assets as conditions on listings. One and the same asset meets every one of them (but the
 * searches in names, which ask about the names of all). Where few assets do, the listings are found by their ids; otherwise the
 * listings are walked in their order, and their assets looked at.
 */
export async function assetFilter(
  { session, values: given, attributes }: EndpointContext,
  table: ListingTable,
  trigrams: boolean,
  bindings: Bindings,
): Promise<AssetFilter> {
  // A template buy offer has no assets to name before it is fulfilled: its template is asked.
  const values = table.kind === 4 ? given : given.without(NAMES)
  const resolved = await resolveAssets(session, table, values, attributes, trigrams)
  const { templates } = resolved
  const conditions = [
    ...templateListConditions(table, values, bindings),
    ...schemaCondition(table, values, bindings),
  ]
  if (table.kind !== 4)
    conditions.push(...nameConditions(given, trigrams, bindings), ...flagConditions(values))
  if (resolved.ids) conditions.push(hasAnyAsset(table, resolved.ids, bindings))
  else if (resolved.isDetailed)
    conditions.push(hasAssetLike(table, values, attributes, templates, trigrams, bindings))
  else if (templates.kind === 'many') {
    const wanted = templateDataConditions(values, attributes, trigrams, bindings)
    const own = table.kind === 4 ? 't.template_id = l.template_id' : 't.template_id = ANY(l.template_ids)'
    conditions.push(`EXISTS (SELECT FROM assets.templates t ${whereClause([own, ...wanted])})`)
  }
  return { conditions, alternatives: templateAlternatives(table, values, templates, bindings) }
}

/** Listings of a kind that contain one of some assets. */
function hasAnyAsset({ key, kind }: ListingTable, ids: readonly string[], bindings: Bindings): string {
  if (ids.length === 0) return NEVER
  return `${key} IN (SELECT x.listing_id FROM market.listing_assets x
    WHERE x.asset_id = ANY(${bindings.bind(ids, 'bigint[]')}) AND x.kind = ${kind})`
}

/** The listing contains an asset that meets every condition. */
function hasAssetLike(
  table: ListingTable,
  values: Values,
  attributes: readonly AttributeFilter[],
  templates: ResolvedTemplates,
  trigrams: boolean,
  bindings: Bindings,
): string {
  const contained = table.kind === 4 ? 'a.asset_id = l.asset_id' : 'a.asset_id = ANY(l.asset_ids)'
  const details = [
    ...assetConditions(ofAsset(table, values), bindings),
    ...ownDataConditions(values, attributes, bindings),
    ...resolvedTemplateCondition(templates, values, attributes, trigrams, bindings),
  ]
  return `EXISTS (SELECT FROM assets.assets a ${whereClause([contained, ...details])})`
}

/** Collection, schema and template of a template buy offer are its own, whether it is fulfilled or not. */
function ofAsset(table: ListingTable, values: Values): Values {
  return table.kind === 4 ? values.without(['template_id', 'collection_name', 'schema_name']) : values
}

async function resolveAssets(
  session: Session,
  table: ListingTable,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<ResolvedAssets> {
  const templates = await resolveTemplates(session, values, attributes, trigrams)
  const ids = values.ids('asset_id')
  const ofOwnData = attributes.some(({ family }) => family === 'immutable_data' || family === 'mutable_data')
  const isDetailed = ofOwnData || DETAILS.some((name) => values.has(name)) || namesSeveral(values, templates)
  if (ids && !isDetailed) return { templates, isDetailed, ids: ids.map(String) }
  if (!ids && !ofOwnData && !INDEXED.some((name) => values.has(name))) return { templates, isDetailed }
  const bindings = new Bindings()
  const conditions = [
    ...assetConditions(ofAsset(table, values), bindings),
    ...ownDataConditions(values, attributes, bindings),
    ...resolvedTemplateCondition(templates, values, attributes, trigrams, bindings),
  ]
  const rows = await session.query<[string]>({
    text: `SELECT a.asset_id::text FROM assets.assets a ${whereClause(conditions)} LIMIT ${MAX_RESOLVED + 1}`,
    values: bindings.values,
  })
  if (rows.length > MAX_RESOLVED) return { templates, isDetailed }
  return { templates, isDetailed, ids: rows.map(([id]) => id) }
}

/** Several conditions that a bundle could meet with different assets. */
function namesSeveral(values: Values, templates: ResolvedTemplates): boolean {
  const hasTemplate = templates.kind !== 'unfiltered' || values.ids('template_id') !== undefined
  // Filters on template data look at the schema themselves.
  const both = templates.kind === 'unfiltered' && hasTemplate && values.has('schema_name')
  return both || (values.has('asset_id') && (hasTemplate || values.has('schema_name')))
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
): (readonly string[])[] {
  if (values.isNull('template_id')) return [[table.kind === 4 ? NEVER : `l.template_ids = '{}'`]]
  const given = values.ids('template_id')
  if (templates.kind !== 'ids' && !given) return []
  const list =
    templates.kind === 'ids' ? bindings.bind(templates.ids, 'integer[]') : bindIntegers(given ?? [], bindings)
  const alone = `l.template_id = ANY(${list})`
  if (table.kind === 4) return [[alone]]
  return [[alone], ['l.asset_count > 1', `l.template_ids && ${list}`]]
}

/** `template_blacklist`, `hide_templates_by_accounts`. */
function templateListConditions(table: ListingTable, values: Values, bindings: Bindings): string[] {
  const conditions: string[] = []
  const black = values.ids('template_blacklist')
  if (black && black.length > 0) {
    const list = bindIntegers(black, bindings)
    conditions.push(table.kind === 4 ? `l.template_id <> ALL(${list})` : `NOT l.template_ids && ${list}`)
  }
  const accounts = values.texts('hide_templates_by_accounts')
  if (accounts && accounts.length > 0) {
    const own = table.kind === 4 ? 'h.template_id = l.template_id' : 'h.template_id = ANY(l.template_ids)'
    conditions.push(
      `NOT EXISTS (SELECT FROM assets.assets h WHERE ${own} AND h.owner = ANY(${bindings.bind(accounts, 'text[]')}))`,
    )
  }
  return conditions
}

/** Few templates forbid something: listings without any of these need not be looked into. */
function flagConditions(values: Values): string[] {
  return (['transferable', 'burnable'] as const).flatMap((flag) =>
    values.bool(`is_${flag}`) === false
      ? [`l.template_ids && ARRAY(SELECT f.template_id FROM assets.templates f WHERE NOT f.${flag})`]
      : [],
  )
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
