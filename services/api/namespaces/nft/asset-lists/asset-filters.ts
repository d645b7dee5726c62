import { allOf, anyOf, bind, bindIds, bindIntegers, raw, sql } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { AttributeFilter } from '../../../request/index.ts'
import { NEVER, nothing } from '../../../planner/filters/index.ts'
import type { Filter } from '../../../planner/filters/index.ts'
import type { Statistics } from '../../../planner/index.ts'
import {
  TEMPLATE_DATA,
  OF_ANY_SCHEMA,
  schemaConditions,
  schemaFilters,
  templateConditions,
  keyAtTime,
} from '../filters/index.ts'
import type { ResolvedTemplates } from '../filters/index.ts'
import { ASSETS } from '../tables.ts'
import { contains, containsText, isNoneOfIds, isOneOf } from '../conditions/index.ts'
import { relatedFilters } from './related-filters.ts'
import type { AssetValues } from '../parameters/index.ts'

/** A request for assets whose filters on template data are resolved to template ids: the input of `assetFilters`. */
export interface AssetRequest {
  readonly values: AssetValues
  readonly attributes: readonly AttributeFilter[]
  /** Whether the database has the `pg_trgm` extension. */
  readonly trigrams: boolean
  /** Templates that match the request's filters on template data. */
  readonly templates: ResolvedTemplates
  readonly statistics: Statistics
}

/** Asset ids ascend in the order of the mints, so a time of mint is converted to an asset id. */
const minted = { table: ASSETS, key: 'asset_id', time: 'minted_at_time' }
/** Approximate share of the assets that a search for a name matches. PostgreSQL has no statistics for such a search. */
const RARE = 0.01

/**
 * For each sort: the time column that the parameters `before` and `after` are compared with. A sort that is not listed
 * uses the time of the mint.
 */
export const timeOfSort: Readonly<Record<string, string>> = {
  updated: 'updated_at_time',
  transferred: 'transferred_at_time',
}

/** Every filter of a request for assets. The SQL alias of the assets is `a`. */
export function assetFilters(request: AssetRequest): Filter[] {
  const { values, statistics } = request
  const impliedBy = implyingSchemas(request)
  return [
    ...idFilters(values, statistics),
    ...accountFilters(values, statistics),
    ...schemaFilters(values, statistics).map((filter) => (impliedBy ? { ...filter, impliedBy } : filter)),
    ...templateFilters(request),
    ...dataFilters(request),
    ...mintFilters(values, statistics),
    ...timeFilters(values, statistics),
    ...relatedFilters(values, statistics),
  ]
}

/** Parameters whose values are template ids. */
const givenTemplates = ['template_id', 'template_whitelist'] as const

/**
 * Name of a filter on templates that makes the filter on collections and schemas redundant: all templates of the filter
 * belong to the requested collections and schemas. Undefined if the request also filters by owner. The columns of the
 * index by owner are owner, schema and template, so this index needs the filter on schemas.
 */
function implyingSchemas({ values, templates }: AssetRequest): string | undefined {
  if (values.owner !== undefined) return undefined
  if (templates.kind === 'ids' && values.authorized_account === undefined) return TEMPLATE_DATA
  return givenTemplates.find((name) => values[name])
}

function idFilters(values: AssetValues, statistics: Statistics): Filter[] {
  const ids = values.asset_id ?? values.ids
  const { lower_bound: lower, upper_bound: upper } = values
  const filters: Filter[] = []
  if (ids) {
    filters.push({
      name: 'asset_id',
      condition: ids.length === 0 ? NEVER : sql`a.asset_id = ANY(${bindIds(ids)})`,
      rows: ids.length,
      equals: { column: 'asset_id', values: ids, type: 'bigint', count: ids.length },
      columns: ['asset_id'],
      isIndexed: true,
    })
  }
  if (lower !== undefined || upper !== undefined) {
    const bounds: Sql[] = []
    if (lower !== undefined) bounds.push(sql`a.asset_id >= ${bind(lower, 'bigint')}`)
    if (upper !== undefined) bounds.push(sql`a.asset_id < ${bind(upper, 'bigint')}`)
    const low = lower === undefined ? undefined : BigInt(lower)
    const high = upper === undefined ? undefined : BigInt(upper) - 1n
    filters.push({
      name: 'lower_bound, upper_bound',
      condition: bounds.reduce((all, each) => sql`${all} AND ${each}`),
      rows: statistics.between(ASSETS, 'asset_id', low, high),
      range: { column: 'asset_id' },
      columns: ['asset_id'],
      isIndexed: true,
    })
  }
  return filters
}

/** Parameters that filter assets by an account, each with the column of the account. */
const accounts = [
  ['owner', 'owner'],
  ['minter', 'minter'],
  ['initial_receiver', 'initial_receiver'],
  ['burner', 'burned_by_account'],
] as const

function accountFilters(values: AssetValues, statistics: Statistics): Filter[] {
  const filters: Filter[] = []
  for (const [parameter, column] of accounts) {
    const names = values[parameter]
    if (!names) continue
    const condition = isOneOf(raw(`a.${column}`), names)
    filters.push({
      name: parameter,
      condition,
      // The index by burner contains only burned assets, and the schema is its first column. The two added conditions
      // make PostgreSQL use this index.
      ...(column === 'burned_by_account'
        ? { found: sql`${condition} AND a.owner IS NULL AND ${OF_ANY_SCHEMA}` }
        : {}),
      rows: statistics.equal(ASSETS, column, names),
      equals: { column, values: names, type: 'text', count: names.length },
      columns: [column],
      isIndexed: true,
      // A collection authorizes the accounts that mint its assets, so the filter on the minter and the filter on
      // collections are not independent. Both are in the group `template`, so that the row estimate does not multiply
      // their shares.
      ...(parameter === 'minter' ? { group: 'template' } : {}),
    })
  }
  const burned = values.burned
  if (burned !== undefined) {
    const none = statistics.equal(ASSETS, 'owner', [null])
    filters.push({
      name: 'burned',
      condition: burned ? raw('a.owner IS NULL') : raw('a.owner IS NOT NULL'),
      rows: burned ? none : statistics.rows(ASSETS) - none,
      columns: ['owner'],
      isIndexed: burned,
    })
  }
  return filters
}

function templateFilters(request: AssetRequest): Filter[] {
  const { values, statistics, templates } = request
  const filters: Filter[] = []
  const all = statistics.rows(ASSETS)
  const filterOf = (
    name: string,
    ids: readonly bigint[],
    rows: number,
    within: readonly Sql[] = [],
  ): Filter => ({
    name,
    condition: ids.length === 0 ? NEVER : isTemplate(ids, within),
    rows,
    equals: {
      column: 'template_id',
      values: within.length === 0 ? ids : templatesWithin(ids, within),
      type: 'integer',
      count: ids.length,
    },
    // The index by owner orders by schema before template, so the condition on the template also names the schema of
    // the template.
    ...(ids.length === 1 && values.owner
      ? { found: allOf([isTemplate(ids), isSchemaOf(ids[0]!)]), alsoEqual: ['schema_key'] }
      : {}),
    columns: ['template_id'],
    isIndexed: true,
    group: 'template',
  })
  const within = values.owner === undefined ? schemaConditions(values, 't') : []
  for (const name of givenTemplates) {
    const ids = values[name]?.filter((id) => BigInt.asIntN(32, id) === id)
    if (ids) filters.push(filterOf(name, ids, statistics.equal(ASSETS, 'template_id', ids), within))
  }
  if (values.template_id === null) {
    filters.push({
      name: 'template_id',
      condition: raw('a.template_id IS NULL'),
      rows: statistics.equal(ASSETS, 'template_id', [null]),
      columns: ['template_id'],
      isIndexed: true,
    })
  }
  if (templates.kind === 'ids') {
    const ids = templates.ids.map(BigInt)
    filters.push(filterOf(TEMPLATE_DATA, ids, templates.held))
  } else if (templates.kind === 'many') {
    filters.push({
      name: TEMPLATE_DATA,
      condition: sql`EXISTS (SELECT FROM assets.templates t WHERE t.template_id = a.template_id AND ${allOf(templateConditions(request))})`,
      rows: all / 3,
      isIndexed: false,
    })
  }
  const black = values.template_blacklist
  if (black && black.length > 0) {
    filters.push({
      name: 'template_blacklist',
      condition: sql`(a.template_id IS NULL OR ${isNoneOfIds(raw('a.template_id'), black)})`,
      rows: Math.max(1, all - statistics.equal(ASSETS, 'template_id', black)),
      columns: ['template_id'],
      isIndexed: false,
    })
  }
  for (const flag of ['transferable', 'burnable'] as const) {
    if (values[`is_${flag}` as const] !== true) continue
    filters.push({
      name: `is_${flag}`,
      condition: sql`NOT EXISTS (SELECT FROM assets.templates f WHERE f.template_id = a.template_id AND NOT f.${raw(flag)})`,
      rows: all * 0.95,
      isIndexed: false,
    })
  }
  return filters
}

function isSchemaOf(template: bigint): Sql {
  return sql`a.schema_key = (SELECT s.schema_key FROM assets.templates t JOIN assets.schemas s USING (collection_name, schema_name)
    WHERE t.template_id = ${bind(template, 'integer')})`
}

/**
 * Condition: the template of the asset `a` is one of `ids` and meets all conditions in `within`.
 * @param within conditions on the template, whose SQL alias is `t`.
 */
function isTemplate(ids: readonly bigint[], within: readonly Sql[] = []): Sql {
  if (within.length > 0) {
    const query = templatesWithin(ids, within)
    return ids.length === 1 ? sql`a.template_id = (${query})` : sql`a.template_id = ANY(ARRAY(${query}))`
  }
  return ids.length === 1
    ? sql`a.template_id = ${bind(ids[0]!, 'bigint')}`
    : sql`a.template_id = ANY(${bindIntegers(ids)})`
}

function templatesWithin(ids: readonly bigint[], within: readonly Sql[]): Sql {
  return sql`SELECT t.template_id AS value FROM assets.templates t WHERE ${allOf([sql`t.template_id = ANY(${bindIntegers(ids)})`, ...within])}`
}

function dataFilters({ values, attributes, statistics }: AssetRequest): Filter[] {
  const filters: Filter[] = []
  for (const { family, containments } of attributes) {
    if (family !== 'immutable_data' && family !== 'mutable_data') continue
    filters.push({
      name: family,
      condition: anyOf(containments.map((pair) => contains(`a.${family}`, pair))),
      rows: sum(containments.map((pair) => attributeRows(statistics, family, pair))),
      isIndexed: true,
    })
  }
  for (const family of ['immutable', 'mutable'] as const) {
    const match = values[`match_${family}_name` as const]
    if (!match) continue
    filters.push({
      name: `match_${family}_name`,
      condition: containsText(raw(`(a.${family}_data ->> 'name')`), match),
      rows: statistics.rows(ASSETS) * RARE,
      isIndexed: true,
    })
  }
  return filters
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

function mintFilters(values: AssetValues, statistics: Statistics): Filter[] {
  const { template_mint: exact, min_template_mint: least, max_template_mint: most } = values
  const filters: Filter[] = []
  const between = (low: number | undefined, high: number | undefined): number =>
    statistics.between(
      ASSETS,
      'template_mint',
      low === undefined ? undefined : BigInt(low),
      high === undefined ? undefined : BigInt(high),
    )
  const columns = ['template_mint', 'template_id']
  const bounded = (name: string, condition: Sql, rows: number): Filter => {
    return { name, condition, isIndexed: true, rows, range: { column: 'template_mint' }, columns }
  }
  if (exact !== undefined) {
    const condition = sql`a.template_mint = ${bind(exact, 'bigint')}`
    filters.push(bounded('template_mint', condition, between(exact, exact)))
  }
  if (least !== undefined && least > 1) {
    const condition = sql`a.template_mint >= ${bind(least, 'bigint')}`
    filters.push(bounded('min_template_mint', condition, between(least, undefined)))
  }
  if (most !== undefined) {
    filters.push({
      columns,
      isIndexed: false,
      name: 'max_template_mint',
      condition: sql`(a.template_mint <= ${bind(most, 'bigint')} OR a.template_id IS NULL)`,
      rows: between(undefined, most) + statistics.equal(ASSETS, 'template_id', [null]),
    })
  }
  // Only assets from another chain have an original mint number. The database stores no such number, so a filter on
  // original mint numbers matches no asset.
  const isOriginal = (['original_mint', 'min_original_mint', 'max_original_mint'] as const).some(
    (name) => values[name] !== undefined,
  )
  if (isOriginal || values.sort === 'original_mint') filters.push(nothing('original_mint'))
  return filters
}

function timeFilters(values: AssetValues, statistics: Statistics): Filter[] {
  const { before, after } = values
  if (before === undefined && after === undefined) return []
  const column = timeOfSort[values.sort ?? '']
  const low = after === undefined ? undefined : BigInt(after) + 1n
  const high = before === undefined ? undefined : BigInt(before) - 1n
  const common = { name: 'before, after', isIndexed: true }
  const bounds: Sql[] = []
  if (column !== undefined) {
    if (before !== undefined) bounds.push(sql`${raw(`a.${column}`)} < ${bind(before, 'bigint')}`)
    if (after !== undefined) bounds.push(sql`${raw(`a.${column}`)} > ${bind(after, 'bigint')}`)
    return [
      {
        ...common,
        condition: bounds.reduce((all, each) => sql`${all} AND ${each}`),
        rows: statistics.between(ASSETS, column, low, high),
        range: { column },
        columns: [column],
      },
    ]
  }
  if (before !== undefined) bounds.push(sql`a.asset_id < ${keyAtTime(minted, before)}`)
  if (after !== undefined) bounds.push(sql`a.asset_id >= ${keyAtTime(minted, after + 1)}`)
  return [
    {
      ...common,
      condition: bounds.reduce((all, each) => sql`${all} AND ${each}`),
      rows: statistics.between(ASSETS, 'minted_at_time', low, high),
      range: { column: 'asset_id' },
      columns: ['asset_id'],
    },
  ]
}

/**
 * Estimated number of assets that have an attribute with a given value. The attributes of templates do not count.
 * @param containment attribute and value as a JSON object, for example `{"level":4}`.
 */
function attributeRows(
  statistics: Statistics,
  family: 'immutable_data' | 'mutable_data',
  containment: string,
): number {
  // PostgreSQL prints its samples of jsonb values with a space after each colon. The searched text gets the same space.
  const text = containment.slice(1, -1).replace(/^("(?:[^"\\]|\\.)*"):/, '$1: ')
  const isList = text.endsWith(']')
  return statistics.sampled(ASSETS, family, (value) => {
    const at = value.indexOf(text)
    if (isList) return value.includes(text.slice(0, text.indexOf(':')))
    if (at === -1) return false
    const next = value[at + text.length]
    return next === ',' || next === '}'
  })
}
