import type { Session, Statement } from '../../../database/index.ts'
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
const MAX_NAMED = 1_000
/** Assets up to which the listings of each are looked up without a look at the order before. */
const MAX_LOOKED_UP = 6_000
/** Assets up to which they are put in a hash table, where an index alone tells which they are. */
const MAX_HASHED = 60_000
/** Templates up to which the listings of each are looked up, without and with a look at the order before. */
const FEW_TEMPLATES = 20
const SOME_TEMPLATES = 200

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
export interface ResolvedAssets {
  readonly templates: ResolvedTemplates
  /** The assets that match, all of them; undefined when they are too many to name, or nothing asks about them. */
  readonly ids?: readonly string[]
  /** The assets must be looked at. */
  readonly isDetailed: boolean
  /** How many assets match, roughly, where an index finds them. */
  readonly expected?: number
  /** Whether the index alone tells which they are. */
  readonly isIndexOnly?: boolean
}

/**
 * How listings meet a filter on assets: `find` them by the assets that match, or `walk` through them in their order and
 * look at the assets of each.
 */
export type Way = 'find' | 'walk'

/** Conditions on the assets of a listing. */
export interface AssetFilter {
  readonly conditions: readonly string[]
  /**
   * Sets of conditions, of which a row meets at most one: together they say what one further condition says. Each is
   * served by an index of its own.
   */
  readonly alternatives: readonly (readonly string[])[]
}

/** Looks up which assets and templates the filters of a request select. */
export function resolveListedAssets(
  { session, values: given, attributes }: EndpointContext,
  table: ListingTable,
  trigrams: boolean,
): Promise<ResolvedAssets> {
  return resolveAssets(session, table, withoutNames(table, given), attributes, trigrams)
}

/** A template buy offer has no assets to name before it is fulfilled: its template is asked. */
function withoutNames(table: ListingTable, given: Values): Values {
  return table.kind === 4 ? given : given.without(NAMES)
}

/** Whether a stretch of the order is worth a look before the listings are found by their assets. */
export function mayBeMany({ templates, ids, isDetailed, expected }: ResolvedAssets): boolean {
  if (ids) return false
  if (isDetailed) return expected === undefined || expected > MAX_LOOKED_UP
  return templates.kind === 'many' || (templates.kind === 'ids' && templates.ids.length > FEW_TEMPLATES)
}

/** Whether the listings are found by assets or templates that an index finds: then they are all read before they are sorted. */
export function isFoundByAssets({ templates, ids, isDetailed, expected }: ResolvedAssets): boolean {
  if (ids) return false
  if (isDetailed) return expected !== undefined && expected <= MAX_HASHED
  return templates.kind === 'ids' && templates.ids.length <= SOME_TEMPLATES
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
    ...schemaCondition(table, values, bindings),
  ]
  if (table.kind !== 4)
    conditions.push(...nameConditions(given, trigrams, bindings), ...flagConditions(values))
  if (resolved.ids) conditions.push(hasAnyAsset(table, resolved.ids, bindings))
  else if (resolved.isDetailed) {
    // All assets of a listing are of its collection, which the row of the listing tells.
    const asked = way === 'walk' && table.kind !== 4 ? values.without(['collection_name']) : values
    const details = detailConditions(table, asked, attributes, templates, trigrams, bindings)
    conditions.push(hasAssetLike(table, details, resolved, way))
  } else if (templates.kind === 'many') {
    const wanted = templateDataConditions(values, attributes, trigrams, bindings)
    const own = table.kind === 4 ? 't.template_id = l.template_id' : 't.template_id = ANY(l.template_ids)'
    conditions.push(`EXISTS (SELECT FROM assets.templates t ${whereClause([own, ...wanted])})`)
  }
  const alternatives = templateAlternatives(table, values, templates, bindings)
  if (way === 'find' || alternatives.length === 0) return { conditions, alternatives }
  const either = alternatives.map((each) => `(${each.join(' AND ')})`).join(' OR ')
  return { conditions: [...conditions, `(${either})`], alternatives: [] }
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
  { expected = Infinity, isIndexOnly }: ResolvedAssets,
  way: Way,
): string {
  const contained = kind === 4 ? 'a.asset_id = l.asset_id' : 'a.asset_id = ANY(l.asset_ids)'
  const exists = `EXISTS (SELECT FROM assets.assets a ${whereClause([contained, ...details])})`
  if (expected > MAX_HASHED) return exists
  if (way === 'find') {
    return `${key} IN (SELECT x.listing_id FROM assets.assets a
      JOIN market.listing_assets x ON x.asset_id = a.asset_id AND x.kind = ${kind} ${whereClause(details)})`
  }
  if (isIndexOnly !== true) return exists
  const hashed = `IN (SELECT a.asset_id FROM assets.assets a ${whereClause(details)})`
  if (kind === 4) return `l.asset_id ${hashed}`
  return `CASE WHEN l.asset_count = 1 THEN l.asset_ids[1] ${hashed} ELSE ${exists} END`
}

function detailConditions(
  table: ListingTable,
  values: Values,
  attributes: readonly AttributeFilter[],
  templates: ResolvedTemplates,
  trigrams: boolean,
  bindings: Bindings,
): string[] {
  return [
    ...assetConditions(ofAsset(table, values), bindings),
    ...ownDataConditions(values, attributes, bindings),
    ...resolvedTemplateCondition(templates, values, attributes, trigrams, bindings),
  ]
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
  const isIndexed = ids !== undefined || INDEXED.some((name) => values.has(name))
  // Template buy offers with an asset are few: their assets are looked at sooner than all that have such data.
  if (!isIndexed && (!ofOwnData || table.kind === 4)) return { templates, isDetailed }
  const bindings = new Bindings()
  const conditions = detailConditions(table, values, attributes, templates, trigrams, bindings)
  const found = `SELECT a.asset_id::text FROM assets.assets a ${whereClause(conditions)}`
  const expected = await expectedRows(session, { text: found, values: bindings.values })
  const many = { templates, isDetailed, expected, isIndexOnly: isIndexed && !ofOwnData }
  if (expected > 20 * MAX_NAMED) return many
  const rows = await session.query<[string]>({
    text: `${found} LIMIT ${MAX_NAMED + 1}`,
    values: bindings.values,
  })
  if (rows.length > MAX_NAMED) return many
  return { templates, isDetailed, ids: rows.map(([id]) => id) }
}

/** How many rows the planner expects of a statement. */
async function expectedRows(session: Session, { text, values }: Statement): Promise<number> {
  const rows = await session.query<[[{ Plan: { 'Plan Rows': number } }]]>({
    text: `EXPLAIN (FORMAT JSON) ${text}`,
    values,
  })
  return rows[0]![0][0].Plan['Plan Rows']
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
    const owned = `(SELECT h.template_id FROM assets.assets h WHERE h.owner = ANY(${bindings.bind(accounts, 'text[]')})
      AND h.template_id IS NOT NULL)`
    const alone = `(l.template_id IS NULL OR l.template_id NOT IN ${owned})`
    const bundled = `NOT EXISTS (SELECT FROM unnest(l.template_ids) AS u(id) WHERE u.id IN ${owned})`
    conditions.push(
      table.kind === 4 ? alone : `CASE WHEN l.asset_count = 1 THEN ${alone} ELSE ${bundled} END`,
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
