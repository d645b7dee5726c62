import { pick, without } from '../../../../core/endpoint/index.ts'
import { allOf, bind, raw, sql } from '../../../sql/index.ts'
import type { Session } from '../../../database/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import { estimateRows, foundConditions, nothing } from '../../../planner/filters/index.ts'
import { findingCost } from '../../../planner/index.ts'
import { assetFilters } from '../../nft/asset-lists/index.ts'
import { ASSETS } from '../../nft/tables.ts'
import { isOneOf, wantedCollections } from '../../nft/conditions/index.ts'
import { MAX_SCHEMA_PAIRS, schemaKey, TEMPLATE_DATA, templateConditions } from '../../nft/filters/index.ts'
import { assetTraits, traitConditions } from './asset-traits.ts'
import type { ListingRequest } from './listing-request.ts'
import {
  columnFilter,
  distinct,
  nameSearches,
  nameConditions,
  hasTerm,
  MANY_SCHEMAS,
  termsOf,
  termsOfNoTemplate,
} from './listing-request.ts'
import { HAS_ASSET, LISTED } from './listing-table.ts'
import type { ListingValues } from '../parameters.ts'

/** Assumed share of the listings that match a filter for which PostgreSQL has no statistics. */
const UNKNOWN = 0.5
/** Assumed share of the listings that match a name search, because PostgreSQL has no statistics on parts of names. */
const NAMED = 0.01
/** Assumed share of the template buy offers whose template has a flag (transferable or burnable) set. */
const SET = 0.95

/**
 * Filters on the assets of a listing. The same asset must match all filters. Exception: a name search on sales accepts
 * the name of any asset of a bundle.
 */
export function listedAssetFilters(request: ListingRequest): Filter[] {
  return [
    ...templateFilters(request),
    ...wantedFlagFilters(request),
    ...schemaFilters(request),
    ...hiddenFilters(request),
    ...nameFilters(request),
    ...ownFilters(request),
  ]
}

function templateFilters(request: ListingRequest): Filter[] {
  const { table, values, attributes, templates, trigrams, statistics } = request
  const filters: Filter[] = []
  if (values.template_id === null) {
    if (table.kind === 4) return [nothing('template_id')]
    const condition = raw(`(l.template_id IS NULL AND ${HAS_PLAIN_ASSET})`)
    filters.push({
      name: 'template_id',
      condition,
      found: sql`${hasTerm(table.terms, termsOfNoTemplate(wantedCollections(values)))} AND ${condition}`,
      rows: statistics.equal(table.table, 'template_id', [null]),
      isIndexed: true,
    })
  }
  const given = values.template_id
  // If the filters on template data are resolved to template ids, the resolved ids are a subset of the ids in the
  // parameter `template_id`. No further filter on template ids is needed.
  if (given && templates.kind !== 'ids') {
    const ids = given.filter((id) => BigInt.asIntN(32, id) === id).map(Number)
    filters.push(ofTemplates(request, 'template_id', ids))
  }
  if (templates.kind === 'ids') filters.push(ofTemplates(request, TEMPLATE_DATA, templates.ids))
  if (templates.kind === 'many') {
    const own = raw(
      table.kind === 4
        ? 't.template_id = l.template_id'
        : '(t.template_id = l.template_id OR t.template_id = ANY(l.template_ids))',
    )
    const wanted = { values: withoutNames(request), attributes, trigrams }
    filters.push({
      name: TEMPLATE_DATA,
      condition: sql`EXISTS (SELECT FROM assets.templates t WHERE ${own} AND ${allOf(templateConditions(wanted))})`,
      rows: statistics.rows(table.table) * UNKNOWN,
      isIndexed: false,
    })
  }
  return filters
}

/**
 * SQL condition: at least one asset of the listing has no template. The condition is correct only for listings whose
 * `template_id` is NULL: bundles, and listings of an asset without a template.
 */
const HAS_PLAIN_ASSET = `(coalesce(cardinality(l.template_ids), 0) = 0
  OR EXISTS (SELECT FROM assets.assets p WHERE p.asset_id = ANY(l.asset_ids) AND p.template_id IS NULL))`

/**
 * Filters on template buy offers by the flags of their templates (transferable, burnable), for the flags that the
 * request requires to be true. For the flags that the request requires to be false, the filter on template data selects
 * the templates.
 */
function wantedFlagFilters({ table, values, statistics }: ListingRequest): Filter[] {
  if (table.kind !== 4) return []
  return flags
    .filter((name) => values[name])
    .map((name) => ({
      name,
      condition: sql`NOT EXISTS (SELECT FROM assets.templates f WHERE f.template_id = l.template_id AND NOT f.${raw(flagColumns[name])})`,
      rows: statistics.rows(table.table) * SET,
      isIndexed: false,
    }))
}

/** A listing of one asset stores its template id in a column; a bundle stores the template ids in an array. */
function ofTemplates(request: ListingRequest, name: string, given: readonly number[]): Filter {
  const ids = distinct(given)
  const { kind, terms } = request.table
  const column = { name, column: 'template_id', type: 'integer', terms: ids }
  const filter = { ...columnFilter(request, column, ids), group: 'template' }
  if (kind === 4 || ids.length === 0) return filter
  const { equals: _, columns: __, ...ofOne } = filter
  const ofSeveral = sql`l.template_ids && ${bind(ids, 'integer[]')}`
  const condition = sql`(${filter.condition} OR ${ofSeveral})`
  const found = isOpen(request)
    ? amongOpen(filter.condition, ofSeveral)
    : sql`${hasTerm(terms, ids)} AND ${condition}`
  return { ...ofOne, condition, found }
}

/** Whether only open sales are requested. */
function isOpen({ table, states }: ListingRequest): boolean {
  return table.kind === 1 && states?.length === 1 && states[0] === LISTED
}

/**
 * Condition on open sales: two conditions with OR between them. Each condition repeats the predicate of a partial
 * index, so PostgreSQL can use this index.
 * @param ofOne condition on sales of one asset with a template; `template_id` is set.
 * @param others condition on bundles and on sales of an asset without a template; `template_id` is NULL.
 */
function amongOpen(ofOne: Sql, others: Sql): Sql {
  const state = raw(`l.state = ${LISTED}`)
  return sql`(${state} AND l.template_id IS NOT NULL AND ${ofOne} OR ${state} AND l.template_id IS NULL AND ${others})`
}

function schemaFilters(request: ListingRequest): Filter[] {
  const { table, values, templates, statistics } = request
  const names = values.schema_name
  // If the filters on template data are resolved to template ids, the templates belong to the requested schemas. No
  // further filter on schemas is needed.
  if (!names || templates.kind === 'ids') return []
  if (names.length === 0) return [nothing('schema_name')]
  const { equals: _, columns: __, ...filter } = columnFilter(request, { column: 'schema_name' }, names)
  const condition =
    table.kind === 4
      ? filter.condition
      : sql`(${filter.condition} OR l.schema_names && ${bind(names, 'text[]')})`
  const collections = wantedCollections(values)
  if (!collections || collections.length * names.length > MAX_SCHEMA_PAIRS) {
    const terms = sql`SELECT market.trait('schema', s.collection_name || '/' || s.schema_name) FROM assets.schemas s
      WHERE s.schema_name = ANY(${bind(names, 'text[]')})`
    const many = bind([MANY_SCHEMAS], 'integer[]')
    return [
      { ...filter, condition, found: sql`${table.terms} && (ARRAY(${terms}) || ${many}) AND ${condition}` },
    ]
  }
  const pairs = collections.flatMap((collection) => names.map((name) => `${collection}/${name}`))
  const keys = collections.flatMap((collection) => names.map((name) => schemaKey(collection, name)))
  const terms = [...termsOf('schema', pairs), MANY_SCHEMAS]
  // The row estimate assumes that the listings of a collection are spread over its schemas in the same proportions as
  // the assets of the collection.
  const all = statistics.equal(ASSETS, 'collection_name', collections)
  const share = statistics.equal(ASSETS, 'schema_key', keys) / Math.max(1, all)
  return [
    {
      ...filter,
      condition,
      found: sql`${hasTerm(table.terms, terms)} AND ${condition}`,
      rows: statistics.rows(table.table) * Math.min(1, share),
    },
  ]
}

/** Filters of the parameters `template_blacklist` and `hide_templates_by_accounts`. */
function hiddenFilters(request: ListingRequest): Filter[] {
  const { values, hidden } = request
  const black = (values.template_blacklist ?? []).filter((id) => BigInt.asIntN(32, id) === id).map(Number)
  return [
    ...(black.length > 0 ? [withoutTemplates(request, 'template_blacklist', black)] : []),
    ...(hidden.length > 0 ? [withoutTemplates(request, 'hide_templates_by_accounts', hidden)] : []),
  ]
}

function withoutTemplates(request: ListingRequest, name: string, ids: readonly number[]): Filter {
  const { table, values, statistics } = request
  const list = bind(ids, 'integer[]')
  // `(= ANY) IS NOT TRUE` instead of `<> ALL`: PostgreSQL has a hash table of the array for `= ANY` since version 14,
  // but for `<> ALL` only since version 15.
  const ofOne = sql`(l.template_id = ANY(${list})) IS NOT TRUE`
  const condition = table.kind === 4 ? ofOne : sql`(${ofOne} AND (l.template_ids && ${list}) IS NOT TRUE)`
  const rows = statistics.rows(table.table) - statistics.equal(table.table, 'template_id', distinct(ids))
  const filter = { name, condition, rows: Math.max(1, rows) }
  const collections = wantedCollections(values)
  // Without a filter on collections, an index scan for the templates that are not excluded would find nearly every
  // listing, so the filter uses no index.
  if (!collections) return { ...filter, isIndexed: false }
  const visible = sql`SELECT t.template_id FROM assets.templates t WHERE (t.template_id = ANY(${list})) IS NOT TRUE
    AND ${isOneOf(raw('t.collection_name'), collections)}`
  const none = bind(termsOfNoTemplate(collections), 'integer[]')
  const found = isOpen(request)
    ? amongOpen(sql`l.template_id = ANY(ARRAY(${visible}))`, raw('TRUE'))
    : sql`${table.terms} && (ARRAY(${visible}) || ${none})`
  return { ...filter, found: sql`${found} AND ${condition}`, isIndexed: true }
}

/** Templates of the assets that the accounts of `hide_templates_by_accounts` own. */
export async function hiddenTemplates(session: Session, values: ListingValues): Promise<readonly number[]> {
  const accounts = values.hide_templates_by_accounts
  if (!accounts || accounts.length === 0) return []
  const [row] = await session.query<[readonly number[] | null]>({
    name: 'hidden-templates',
    // The query leaves out NULL with `array_remove`. With the condition `template_id IS NOT NULL`, a generic plan of
    // PostgreSQL 18 would not use the index-only scan of assets_held_idx.
    text: `SELECT array_remove(array_agg(DISTINCT h.template_id), NULL) FROM assets.assets h
      WHERE h.owner = ANY($1::text[])`,
    values: [accounts],
  })
  return row?.[0] ?? []
}

/**
 * Returns the parameter values; for sales, without name searches. `nameFilters` applies the name searches on sales,
 * because sales store the names of their assets in the column `asset_names`. Other listings have no such column: their
 * name searches remain filters on templates and assets.
 */
export function withoutNames({ table, values }: Pick<ListingRequest, 'table' | 'values'>): ListingValues {
  return table.kind === 1 ? without(values, nameSearches) : values
}

function nameFilters(request: ListingRequest): Filter[] {
  const { table, values, trigrams, named, statistics } = request
  if (table.kind !== 1) return []
  const conditions = nameConditions(values, raw('l.asset_names'), trigrams)
  if (conditions.length === 0) return []
  const names = allOf(conditions)
  if (!named) {
    return [
      { name: 'names', condition: names, rows: statistics.rows(table.table) * UNKNOWN, isIndexed: false },
    ]
  }
  const rowsOf = (templates: readonly (number | null)[]): number =>
    statistics.equal(table.table, 'template_id', templates)
  const { matching, nameless } = named
  const plain = sql`l.template_id IS NULL AND ${names}`
  const own = sql`l.template_id = ANY(${bind(nameless, 'integer[]')}) AND ${names}`
  const condition = sql`(l.template_id = ANY(${bind(matching, 'integer[]')}) OR (${plain})${
    nameless.length === 0 ? raw('') : sql` OR (${own})`
  })`
  const possible = [...matching, ...nameless]
  const found = isOpen(request)
    ? amongOpen(sql`l.template_id = ANY(${bind(possible, 'integer[]')})`, names)
    : hasTerm(table.terms, [...possible, ...termsOfNoTemplate(wantedCollections(values))])
  return [
    {
      name: 'names',
      condition,
      found: sql`${found} AND ${condition}`,
      rows: rowsOf(matching) + NAMED * rowsOf([...nameless, null]),
      isIndexed: true,
    },
  ]
}

/** Parameters that need the asset's row, because listings have no column for them. */
const details = ['owner', 'burned', 'minter', 'initial_receiver', 'burner'] as const
const flags = ['is_transferable', 'is_burnable'] as const
const flagColumns = { is_transferable: 'transferable', is_burnable: 'burnable' } as const
/** Name searches on assets. For listings of every kind except sales, these searches need the row of the asset. */
const ownNames = ['match_immutable_name', 'match_mutable_name'] as const
const templateNames = ['match', 'search'] as const
/** Parameters that filter listings of every kind by columns of the listing's assets. */
const ofAsset = [...details, 'asset_id'] as const
/**
 * Parameters that filter template buy offers by columns of the offer. For other listings, the same parameters filter
 * the asset.
 */
const ofRow = ['template_id', 'collection_name', 'schema_name'] as const

function isOwn({ family }: AttributeFilter): boolean {
  return family === 'immutable_data' || family === 'mutable_data'
}

/** Filters on the assets, without the filters that the listing's own columns cover. */
function ownFilters(request: ListingRequest): Filter[] {
  const { table, values, attributes, templates, statistics } = request
  const own = attributes.filter(isOwn)
  const isOffer = table.kind === 4
  // A request can require that an asset is transferable or burnable, or that it is not. A required false flag needs no
  // row of the asset: the filter on template data covers it. A required true flag needs the row, because assets without
  // a template match, too. For template buy offers, `wantedFlagFilters` checks the required true flags.
  const hasFlag = !isOffer && flags.some((name) => values[name])
  const isNamed = table.kind !== 1
  const hasName = isNamed && ownNames.some((name) => values[name])
  const isDetailed =
    own.length > 0 ||
    hasFlag ||
    hasName ||
    details.some((name) => values[name] !== undefined) ||
    namesSeveral(request)
  if (!isDetailed) return assetIdFilters(request)
  // A template buy offer stores collection, schema and template in columns, also before it has an asset. Filters on
  // these columns therefore leave out the asset.
  const names = [
    ...ofAsset,
    ...(isNamed ? ownNames : []),
    ...(isOffer ? [] : [...flags, ...ofRow]),
    ...(isNamed && !isOffer ? templateNames : []),
  ]
  const filters = assetFilters({
    ...request,
    values: pick(values, names),
    // If too many templates match to be listed by id, the attribute filters on templates check the template of each
    // asset.
    attributes: isOffer ? own : attributes,
    templates: isOffer ? { kind: 'unfiltered' } : templates,
  })
  const rows = statistics.rows(table.table)
  const shareOf = (some: readonly Filter[]): number =>
    estimateRows(statistics.rows(ASSETS), some) / statistics.rows(ASSETS)
  const contained = isOffer ? 'x.asset_id = l.asset_id' : 'x.asset_id = ANY(l.asset_ids)'
  const matches = filters.map(({ condition }) => condition)
  // OFFSET 0 is an optimization fence. Without OFFSET 0, a generic plan would read all assets of the requested owner
  // first, because the plan assumes that each owner has the average number of assets.
  const exists = sql`EXISTS (SELECT FROM (SELECT x.* FROM assets.assets x WHERE ${raw(contained)} OFFSET 0) a WHERE ${allOf(matches)} OFFSET 0)`
  const checked = traitConditions(request, own, raw('l.traits'), 'once')
  const traitShare = shareOf(filters.filter(({ name }) => assetTraits.has(name)))
  const share = shareOf(filters)
  // Share of the assets that match all filters on assets except those on collection, schema and template, for the row
  // estimate of the list. The list also applies these three filters to columns of the listing, so with their shares the
  // estimate would count them twice. They have the group `template`. The filter `minter` has this group, too, but
  // listings have no column for minters, so its share counts.
  const ownShare = shareOf(filters.filter(({ name, group }) => group !== 'template' || name === 'minter'))
  const common = {
    name: 'assets',
    condition: allOf([...checked, exists]),
    rows: rows * ownShare * (isOffer ? fulfilledShare(request) : 1),
    isIndexed: true,
    visits: 1,
  }
  const isFound = filters.some(({ isIndexed }) => isIndexed)
  if (checked.length > 0 && (!isFound || traitShare < MUCH_RARER * share)) {
    const traits = traitConditions(request, own, table.terms, 'when it is planned')
    const found = [...traits, ...(isOffer ? [HAS_ASSET] : []), exists]
    return [{ ...common, found: allOf(found), rows: rows * traitShare }]
  }
  const found = sql`l.${raw(table.key)} = ANY(ARRAY(SELECT x.listing_id FROM assets.assets a
      JOIN market.listing_assets x ON x.asset_id = a.asset_id AND x.kind = ${raw(table.kind)}
      WHERE ${allOf(foundConditions(filters))}))`
  const all = statistics.rows(ASSETS)
  // Cost of finding listings via their assets: the cost of finding the assets, and for each found asset one lookup in
  // market.listing_assets.
  const finding = findingCost(all, filters) + estimateRows(all, filters)
  return [{ ...common, ...(isFound ? { found, finding } : {}), isIndexed: isFound }]
}

/**
 * A list finds listings either by indexed terms or via the assets that match all filters. Indexed terms cover only some
 * of the filters on assets. The list finds listings via the assets if at least MUCH_RARER times as many assets match
 * the covered filters as match all filters.
 */
const MUCH_RARER = 8

/**
 * Whether the request filters assets by at least two of template, schema and asset id. The same asset of a listing must
 * match these filters. The columns of a bundle do not show whether one asset matches all of them, so the assets have to
 * be read.
 */
function namesSeveral({ values, templates }: ListingRequest): boolean {
  const hasTemplate = templates.kind !== 'unfiltered' || values.template_id !== undefined
  // If the request filters by template data, the resolved templates belong to the requested schemas already. An asset
  // with one of these templates also matches the filter on schemas.
  const both = templates.kind === 'unfiltered' && hasTemplate && values.schema_name !== undefined
  return both || (values.asset_id !== undefined && (hasTemplate || values.schema_name !== undefined))
}

function assetIdFilters({ table, values }: ListingRequest): Filter[] {
  const ids = values.asset_id
  if (!ids) return []
  if (ids.length === 0) return [nothing('asset_id')]
  const list = bind(`{${ids.join(',')}}`, 'bigint[]')
  return [
    {
      name: 'asset_id',
      condition: table.kind === 4 ? sql`l.asset_id = ANY(${list})` : sql`l.asset_ids && ${list}`,
      found: sql`l.${raw(table.key)} = ANY(ARRAY(SELECT x.listing_id FROM market.listing_assets x
        WHERE x.asset_id = ANY(${list}) AND x.kind = ${raw(table.kind)}))`,
      rows: ids.length,
      isIndexed: true,
    },
  ]
}

/**
 * Share of the template buy offers that have an asset, for row estimates. Filters on assets match no other template buy
 * offers.
 */
function fulfilledShare({ table: { table }, statistics }: ListingRequest): number {
  return 1 - statistics.equal(table, 'asset_id', [null]) / statistics.rows(table)
}
