import { bind, bindIntegers, raw, sql } from '../../../database/index.ts'
import type { Sql } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import type { Filter } from '../../../lists/index.ts'
import { estimateRows, foundConditions } from '../../../lists/index.ts'
import { assetFilters, ASSETS, templateConditions } from '../../assets/index.ts'
import type { ListingRequest } from './listing-request.ts'
import { allOf, columnFilter, distinct, NEVER, nothing } from './listing-request.ts'
import { HAS_ASSET } from './listing-table.ts'
import { NAME_SEARCHES, nameConditions } from './named-templates.ts'
import { hasTerm, MANY_SCHEMAS, NO_TEMPLATE, termsOf } from './terms.ts'

/** Share of the listings that a filter leaves, where nothing tells. */
const UNKNOWN = 0.5
/** The same of searches in names. */
const NAMED = 0.01

/** Filters on what a listing contains. One asset meets all of them, but for searches in names: any name counts. */
export function listedAssetFilters(request: ListingRequest): Filter[] {
  return [
    ...templateFilters(request),
    ...schemaFilters(request),
    ...hiddenFilters(request),
    ...nameFilters(request),
    ...ownFilters(request),
  ]
}

function templateFilters(request: ListingRequest): Filter[] {
  const { table, values, attributes, templates, trigrams, statistics } = request
  const filters: Filter[] = []
  if (values.isNull('template_id')) {
    if (table.kind === 4) return [nothing('template_id')]
    const condition = raw('(l.template_id IS NULL AND coalesce(cardinality(l.template_ids), 0) = 0)')
    filters.push({
      name: 'template_id',
      condition,
      found: sql`${hasTerm(table.terms, [NO_TEMPLATE])} AND ${condition}`,
      rows: statistics.equal(table.table, 'template_id', [null]),
      isIndexed: true,
    })
  }
  const given = values.ids('template_id')
  if (given) {
    const ids = given.filter((id) => BigInt.asIntN(32, id) === id).map(Number)
    filters.push(ofTemplates(request, 'template_id', ids))
  }
  if (templates.kind === 'ids') filters.push(ofTemplates(request, 'attributes of templates', templates.ids))
  if (templates.kind === 'many') {
    const own = raw(
      table.kind === 4
        ? 't.template_id = l.template_id'
        : '(t.template_id = l.template_id OR t.template_id = ANY(l.template_ids))',
    )
    const asked = { values: withoutNames(request), attributes, trigrams }
    filters.push({
      name: 'attributes of templates',
      condition: sql`EXISTS (SELECT FROM assets.templates t WHERE ${own} AND ${templateConditions(asked)})`,
      rows: statistics.rows(table.table) * UNKNOWN,
      isIndexed: false,
    })
  }
  return filters
}

/** Listings of one asset have its template in a column of its own, bundles have a list. */
function ofTemplates(request: ListingRequest, name: string, given: readonly number[]): Filter {
  const ids = distinct(given)
  const { kind, terms } = request.table
  const options = { type: 'integer', terms: ids }
  const filter = { ...columnFilter(request, name, 'template_id', ids, options), group: 'template' }
  if (kind === 4 || ids.length === 0) return filter
  const { equals: _, columns: __, ...ofOne } = filter
  const condition = sql`(${filter.condition} OR l.template_ids && ${bind(ids, 'integer[]')})`
  return { ...ofOne, condition, found: sql`${hasTerm(terms, ids)} AND ${condition}` }
}

function schemaFilters(request: ListingRequest): Filter[] {
  const { table, values } = request
  const names = values.texts('schema_name')
  if (!names) return []
  const terms = [...termsOf('schema', names), MANY_SCHEMAS]
  const filter = {
    ...columnFilter(request, 'schema_name', 'schema_name', names, { terms }),
    group: 'schema',
  }
  if (table.kind === 4 || names.length === 0) return [filter]
  const { equals: _, columns: __, ...ofOne } = filter
  const condition = sql`(${filter.condition} OR l.schema_names && ${bind(names, 'text[]')})`
  return [{ ...ofOne, condition, found: sql`${hasTerm(table.terms, terms)} AND ${condition}` }]
}

/** `template_blacklist`, `hide_templates_by_accounts`. */
function hiddenFilters({ table, values, statistics }: ListingRequest): Filter[] {
  const filters: Filter[] = []
  const black = values.ids('template_blacklist') ?? []
  if (black.length > 0) {
    const list = bindIntegers(black)
    const ofOne = sql`(l.template_id IS NULL OR l.template_id <> ALL(${list}))`
    const most = statistics.rows(table.table) - statistics.equal(table.table, 'template_id', distinct(black))
    filters.push({
      name: 'template_blacklist',
      condition:
        table.kind === 4
          ? ofOne
          : sql`(${ofOne} AND (l.template_ids IS NULL OR NOT l.template_ids && ${list}))`,
      rows: Math.max(1, most),
      isIndexed: false,
    })
  }
  const accounts = values.texts('hide_templates_by_accounts') ?? []
  if (accounts.length > 0) {
    const hidden = sql`SELECT h.template_id FROM assets.assets h
      WHERE h.owner = ANY(${bind(accounts, 'text[]')}) AND h.template_id IS NOT NULL`
    const ofOne = sql`(l.template_id IS NULL OR l.template_id NOT IN (${hidden}))`
    const condition =
      table.kind === 4
        ? ofOne
        : sql`CASE WHEN l.asset_count = 1 THEN ${ofOne}
            ELSE NOT coalesce(l.template_ids, '{}') && ARRAY(SELECT DISTINCT x.template_id FROM (${hidden}) x) END`
    const visible = sql`SELECT t.template_id FROM assets.templates t WHERE t.template_id NOT IN (${hidden})`
    const none = bind([NO_TEMPLATE], 'integer[]')
    filters.push({
      name: 'hide_templates_by_accounts',
      condition,
      found: sql`${table.terms} && (ARRAY(${visible}) || ${none}) AND ${condition}`,
      rows: statistics.rows(table.table) * UNKNOWN,
      isIndexed: true,
    })
  }
  return filters
}

/** The filters, but for those on names that the row of a listing answers. Those of template buy offers are asked of the template. */
export function withoutNames({ table, values }: Pick<ListingRequest, 'table' | 'values'>): Values {
  return table.kind === 4 ? values : values.without(NAME_SEARCHES)
}

function nameFilters({ table, values, trigrams, named, statistics }: ListingRequest): Filter[] {
  if (table.kind === 4) return []
  const conditions = nameConditions(values, raw('l.asset_names'), trigrams)
  if (conditions.length === 0) return []
  const condition = allOf(conditions)
  const rowsOf = (templates: readonly (number | null)[]): number =>
    statistics.equal(table.table, 'template_id', templates)
  const common = { name: 'names', condition, columns: ['asset_names'] }
  if (!named) return [{ ...common, rows: statistics.rows(table.table) * UNKNOWN, isIndexed: false }]
  const terms = [...named.matching, ...named.nameless, NO_TEMPLATE]
  return [
    {
      ...common,
      found: sql`${hasTerm(table.terms, terms)} AND ${condition}`,
      rows: rowsOf(named.matching) + NAMED * rowsOf([...named.nameless, null]),
      isIndexed: true,
    },
  ]
}

/** Parameters that ask about an asset itself, not only about what the row of a listing tells of its assets. */
const DETAILS = ['owner', 'burned', 'minter', 'initial_receiver', 'burner']
const FLAGS = ['is_transferable', 'is_burnable']
const OWN_NAMES = ['match_immutable_name', 'match_mutable_name']
/** The same, and what it has to be besides. */
const OF_ASSET = [...DETAILS, ...FLAGS, 'asset_id', 'template_id', 'collection_name', 'schema_name']

function isOwn({ family }: AttributeFilter): boolean {
  return family === 'immutable_data' || family === 'mutable_data'
}

/** What the assets themselves are asked. */
function ownFilters(request: ListingRequest): Filter[] {
  const { table, values, attributes, templates, statistics } = request
  const own = attributes.filter(isOwn)
  const isOffer = table.kind === 4
  // A flag that is not set is asked of templates, which were looked up; of a template buy offer what it has got is asked.
  const hasFlag = FLAGS.some((name) => values.has(name) && (isOffer || values.bool(name) === true))
  const hasName = isOffer && OWN_NAMES.some((name) => values.text(name))
  const isDetailed =
    own.length > 0 || hasFlag || hasName || DETAILS.some((name) => values.has(name)) || namesSeveral(request)
  if (!isDetailed) return assetIdFilters(request)
  // Collection, schema and template of a template buy offer are its own, whether it is fulfilled or not.
  const ofRow = new Set(isOffer ? ['template_id', 'collection_name', 'schema_name'] : OWN_NAMES)
  const names = values
    .names()
    .filter((name) => ![...OF_ASSET, ...OWN_NAMES].includes(name) || ofRow.has(name))
  const filters = assetFilters({
    ...request,
    values: values.without(names),
    attributes: own,
    templates: isOffer ? { kind: 'unfiltered' } : templates,
  })
  const rows = statistics.rows(table.table)
  const shareOf = (some: readonly Filter[]): number =>
    estimateRows(statistics.rows(ASSETS), some) / statistics.rows(ASSETS)
  const contained = isOffer ? 'a.asset_id = l.asset_id' : 'a.asset_id = ANY(l.asset_ids)'
  const meets = filters.map(({ condition }) => condition)
  const exists = sql`EXISTS (SELECT FROM assets.assets a WHERE ${allOf([raw(contained), ...meets])})`
  const traits = traitConditions(request, own)
  const traitShare = shareOf(filters.filter(({ name }) => TRAITS.has(name)))
  const share = shareOf(filters)
  const common = {
    name: 'assets',
    condition: allOf([...traits.map((each) => each(raw('l.traits'))), exists]),
    rows: rows * share * (isOffer ? fulfilledShare(request) : 1),
    isIndexed: true,
  }
  const isFound = filters.some(({ isIndexed }) => isIndexed)
  if (traits.length > 0 && (!isFound || traitShare < MUCH_RARER * share)) {
    const found = [...traits.map((each) => each(table.terms)), ...(isOffer ? [HAS_ASSET] : []), exists]
    return [{ ...common, found: allOf(found), rows: rows * traitShare }]
  }
  const found = sql`l.${raw(table.key)} = ANY(ARRAY(SELECT x.listing_id FROM assets.assets a
      JOIN market.listing_assets x ON x.asset_id = a.asset_id AND x.kind = ${raw(String(table.kind))}
      WHERE ${allOf(foundConditions(filters))}))`
  return [{ ...common, ...(isFound ? { found } : {}), isIndexed: isFound }]
}

/** Assets are gathered themselves where all filters leave so many times less than traits of listings tell. */
const MUCH_RARER = 8

/** Several conditions that a bundle could meet with different assets. */
function namesSeveral({ values, templates }: ListingRequest): boolean {
  const hasTemplate = templates.kind !== 'unfiltered' || values.ids('template_id') !== undefined
  // Filters on template data look at the schema themselves.
  const both = templates.kind === 'unfiltered' && hasTemplate && values.has('schema_name')
  return both || (values.has('asset_id') && (hasTemplate || values.has('schema_name')))
}

function assetIdFilters({ table, values }: ListingRequest): Filter[] {
  const ids = values.ids('asset_id')
  if (!ids) return []
  if (ids.length === 0) return [nothing('asset_id')]
  const list = bind(`{${ids.join(',')}}`, 'bigint[]')
  return [
    {
      name: 'asset_id',
      condition: table.kind === 4 ? sql`l.asset_id = ANY(${list})` : sql`l.asset_ids && ${list}`,
      found: sql`l.${raw(table.key)} = ANY(ARRAY(SELECT x.listing_id FROM market.listing_assets x
        WHERE x.asset_id = ANY(${list}) AND x.kind = ${raw(String(table.kind))}))`,
      rows: ids.length,
      isIndexed: true,
    },
  ]
}

/** Share of the template buy offers that are fulfilled. */
function fulfilledShare({ table: { table }, statistics }: ListingRequest): number {
  return 1 - statistics.equal(table, 'asset_id', [null]) / statistics.rows(table)
}

/** Names of the filters on assets that traits answer nearly. */
const TRAITS = new Set(['minter', 'initial_receiver', 'immutable_data'])

/** What every listing of an asset that meets the filters meets, and few others: the assets of a bundle share their traits. */
function traitConditions(
  { values }: ListingRequest,
  attributes: readonly AttributeFilter[],
): ((column: Sql) => Sql)[] {
  const ofAccounts = (
    [
      ['minter', 'minter'],
      ['initial_receiver', 'receiver'],
    ] as const
  ).flatMap(([parameter, kind]) => {
    const accounts = values.texts(parameter)
    if (!accounts) return []
    return [(column: Sql) => (accounts.length === 0 ? NEVER : hasTerm(column, termsOf(kind, accounts)))]
  })
  const ofData = attributes.flatMap(({ family, containment }) => {
    if (family !== 'immutable_data' || containment === undefined) return []
    const attribute = JSON.parse(containment) as Record<string, unknown>
    // Lists are no traits.
    if (Object.values(attribute).some((value) => typeof value === 'object')) return []
    const traits = sql`market.data_traits(${bind(containment, 'jsonb')})`
    return [(column: Sql) => sql`${column} @> ${traits}`]
  })
  return [...ofAccounts, ...ofData]
}
