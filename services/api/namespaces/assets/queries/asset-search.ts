import type { Bindings, Session } from '../../../database/index.ts'
import { Bindings as StatementBindings, whereClause } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import type { KeyBounds } from '../../paging/index.ts'
import { bindIntegers, boundaryConditions, keyBoundConditions, keyBounds } from '../../paging/index.ts'
import {
  assetConditions,
  collectionLists,
  hideOffersCondition,
  NEVER,
  oneOf,
  ownDataConditions,
  schemaHomes,
} from './asset-conditions.ts'
import type { ResolvedTemplates } from './template-conditions.ts'
import { passingTemplateCondition, resolveTemplates, templateDataConditions } from './template-conditions.ts'

/** A search for assets: the request, and what had to be looked up before its statement can be made. */
export interface AssetSearch {
  readonly values: Values
  readonly attributes: readonly AttributeFilter[]
  readonly trigrams: boolean
  /** Templates that filters on templates select. */
  readonly templates: ResolvedTemplates
  /** Collections that list `authorized_account`; undefined without that filter. */
  readonly authorized: readonly string[] | undefined
  /** What `before` and `after` mean for ids, which are given in mint order; empty when they mean another time. */
  readonly minted: KeyBounds
}

/** Time that `before` and `after` compare under a sort; otherwise it is that of the mint. */
const DATES: Readonly<Record<string, string>> = {
  updated: 'a.updated_at_time',
  transferred: 'a.transferred_at_time',
}
/** Sort by mint number. */
const BY_MINT = 'template_mint'
/** State of template buy offers that can be accepted. */
const LISTED = 0
const MINTED = { table: 'assets.assets', key: 'asset_id', time: 'minted_at_time' }

/** Looks up what the statement of a request for assets needs. */
export async function searchAssets(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<AssetSearch> {
  const isDated = DATES[values.text('sort') ?? ''] !== undefined
  return {
    values,
    attributes,
    trigrams,
    templates: await resolveTemplates(session, values, attributes, trigrams),
    authorized: await authorizedCollections(session, values),
    minted: isDated ? {} : await keyBounds(session, values, MINTED),
  }
}

async function authorizedCollections(session: Session, values: Values): Promise<string[] | undefined> {
  const account = values.text('authorized_account')
  if (account === undefined) return undefined
  const bindings = new StatementBindings()
  const rows = await session.query<[string]>({
    name: 'authorized-collections',
    text: `SELECT k.collection_name FROM assets.collections k
      WHERE k.authorized_accounts @> ARRAY[${bindings.bind(account, 'text')}]`,
    values: bindings.values,
  })
  return rows.map(([name]) => name)
}

/** Every condition of a search, on an asset `a`. */
export function searchConditions(search: AssetSearch, bindings: Bindings): string[] {
  return [...filterConditions(search, bindings), ...orderConditions(search, bindings)]
}

/** The same where all that match are found by their filters. */
export function foundConditions(search: AssetSearch, bindings: Bindings): string[] {
  return [...searchConditions(search, bindings), ...schemaHomes(search.values, bindings)]
}

/**
 * The conditions of a search without those on the time that it is sorted by, and, where it is sorted by mint numbers,
 * without those on the number.
 */
export function filterConditions(search: AssetSearch, bindings: Bindings): string[] {
  const { values, attributes, trigrams, templates } = search
  return [
    ...assetConditions(values, bindings, true),
    ...collectionLists('a.collection_name', values, bindings),
    ...oneOf('a.collection_name', search.authorized, bindings),
    ...hideOffersCondition(values),
    ...templateListConditions(values, 'a', bindings),
    ...holdingConditions(values),
    ...(values.text('sort') === BY_MINT ? [] : mintConditions(values, bindings)),
    ...ownDataConditions(values, attributes, bindings),
    ...passingTemplateCondition(templates, values, attributes, trigrams, bindings),
    ...boundConditions(search, bindings),
  ]
}

/** Filters that nearly every asset passes, by the value that makes them so; null for any. */
const PASSED_BY_MOST: Readonly<Record<string, boolean | null>> = {
  burned: false,
  is_transferable: true,
  is_burnable: true,
  has_backed_tokens: false,
  has_template_buyoffer: false,
  hide_templates_by_accounts: null,
  template_blacklist: null,
  collection_blacklist: null,
}
const NO_FILTERS = ['page', 'limit', 'order', 'sort', 'count', 'account_blacklist', 'before', 'after']

/** Names of what a search is filtered by, the families of attribute filters and bounds of time among them. */
export function filtersOf({ values, attributes, minted }: AssetSearch): string[] {
  return [
    // With hide_offers=false, its default, nothing is left out at all.
    ...values
      .names()
      .filter((name) => !NO_FILTERS.includes(name) && (name !== 'hide_offers' || values.bool(name) === true)),
    ...attributes.map(({ family }) => family),
    ...(minted.below === undefined && minted.from === undefined ? [] : ['before, after']),
  ]
}

/** Whether every filter of a search is one that nearly all assets pass. */
export function leavesOutLittle(search: AssetSearch): boolean {
  return filtersOf(search).every((name) => {
    if (name === 'hide_offers') return true
    const most = PASSED_BY_MOST[name]
    return most === null || (most !== undefined && search.values.bool(name) === most)
  })
}

/** Where the planner expects so many times more than few rows, they are not counted: that would take longer than it saves. */
const FAR_MORE = 3

/** How many assets the planner expects to satisfy the filters of a search. */
export async function expectedMatching(session: Session, search: AssetSearch): Promise<number> {
  const bindings = new StatementBindings()
  // Without the collections of a schema: the planner takes them for a filter of their own.
  const conditions = filterConditions(search, bindings)
  return conditions.length === 0 ? Infinity : expectedRows(session, conditions, bindings)
}

/** Whether at most so many assets satisfy the filters of a search. */
export async function areFew(session: Session, search: AssetSearch, most: number): Promise<boolean> {
  const bindings = new StatementBindings()
  const conditions = [...filterConditions(search, bindings), ...schemaHomes(search.values, bindings)]
  const rows = await session.query<[number]>({
    text: `SELECT count(*)::integer FROM (SELECT FROM assets.assets a ${whereClause(conditions)} LIMIT ${most + 1}) x`,
    values: bindings.values,
  })
  return rows[0]![0] <= most
}

/** Assets up to which all that match are looked at and sorted. */
export const FEW_TO_SORT = 6_000
/** The same for filters on the assets' own data. */
const FEW_OF_OWN_DATA = 60_000

/**
 * Whether, in an order of their templates, the matching assets are all looked at and sorted: where they are few, and, with
 * filters on the assets' own data, also where they are not so many: their templates do not tell them, so walking these could
 * find nothing for long.
 */
export async function sortsAll(session: Session, search: AssetSearch): Promise<boolean> {
  const { sorted } = await expectedSorting(session, search)
  return sorted === 'all' || (isInDoubt(sorted) && (await areFew(session, search, FEW_TO_SORT)))
}

/** How assets are put in an order of their templates. */
export interface Sorting {
  /** What is sorted; in doubt, all that match if they turn out to be few: probably, or perhaps. */
  readonly sorted: 'all' | 'probably all' | 'perhaps all' | 'none'
  /** How many assets match, about. */
  readonly expected: number
}

/** What `sortsAll` finds without looking at assets. */
export async function expectedSorting(session: Session, search: AssetSearch): Promise<Sorting> {
  if (leavesOutLittle(search)) return { sorted: 'none', expected: Infinity }
  const expected = await expectedMatching(session, search)
  const isOwnData = search.attributes.some(
    ({ family }) => family === 'immutable_data' || family === 'mutable_data',
  )
  if (isOwnData) return { sorted: expected <= FEW_OF_OWN_DATA ? 'all' : 'none', expected }
  // Each that has tokens has a row for them: the planner knows how many there are.
  if (expected <= FEW_TO_SORT && filtersOf(search).every((name) => name === 'has_backed_tokens'))
    return { sorted: 'all', expected }
  if (expected <= FEW_TO_SORT) return { sorted: 'probably all', expected }
  return { sorted: expected <= FEW_TO_SORT * FAR_MORE ? 'perhaps all' : 'none', expected }
}

function isInDoubt(sorted: Sorting['sorted']): boolean {
  return sorted === 'probably all' || sorted === 'perhaps all'
}

/** Template by template, an index of all assets' data would be searched anew for each: no index, then. */
export function unindexed(condition: string): string {
  return /^a\.(im)?mutable_data @>/.test(condition) ? `(${condition}) IS TRUE` : condition
}

/** How many rows, by default assets `a`, the planner expects to meet conditions. */
export async function expectedRows(
  session: Session,
  conditions: readonly string[],
  { values }: Bindings,
  from = 'assets.assets a',
): Promise<number> {
  const rows = await session.query<[[{ Plan: { 'Plan Rows': number } }]]>({
    text: `EXPLAIN (FORMAT JSON) SELECT FROM ${from} ${whereClause(conditions)}`,
    values,
  })
  return rows[0]![0][0].Plan['Plan Rows']
}

/** How many assets there are, about. */
export async function assetsAbout(session: Session): Promise<number> {
  const rows = await session.query<[number]>({
    name: 'assets-about',
    text: `SELECT c.reltuples::float8 FROM pg_class c WHERE c.oid = 'assets.assets'::regclass`,
    values: [],
  })
  return rows[0]![0]
}

/** What the conditions of a search demand of the template, `t`, of an asset that has one. */
export function templateSideConditions(search: AssetSearch, bindings: Bindings): string[] {
  const { values, templates } = search
  const conditions = [
    ...oneOf('t.collection_name', values.texts('collection_name'), bindings),
    ...oneOf('t.schema_name', values.texts('schema_name'), bindings),
    ...collectionLists('t.collection_name', values, bindings),
    ...oneOf('t.collection_name', search.authorized, bindings),
  ]
  for (const ids of [values.ids('template_id')]) {
    if (ids) conditions.push(`t.template_id = ANY(${bindIntegers(ids, bindings)})`)
  }
  if (templates.kind === 'ids')
    conditions.push(`t.template_id = ANY(${bindings.bind(templates.ids, 'integer[]')})`)
  for (const [name, flag] of [
    ['is_transferable', 'transferable'],
    ['is_burnable', 'burnable'],
  ] as const) {
    const wanted = values.bool(name)
    if (wanted !== undefined) conditions.push(wanted ? `t.${flag}` : `NOT t.${flag}`)
  }
  return [...conditions, ...templateListConditions(values, 't', bindings), ...wantedCondition(values, 't')]
}

/**
 * Conditions on a template, `t`, all of whose assets meet what a search asks about templates; without assets that have
 * none.
 */
export function wholeTemplateConditions(search: AssetSearch, bindings: Bindings): string[] {
  const { values, attributes, trigrams, templates } = search
  return [
    ...templateSideConditions(search, bindings),
    ...(values.isNull('template_id') ? [NEVER] : []),
    ...(templates.kind === 'many' ? templateDataConditions(values, attributes, trigrams, bindings) : []),
  ]
}

/** Whether every asset that a search finds has a template. */
export function demandsTemplate({ values, templates }: AssetSearch): boolean {
  return (
    templates.kind !== 'unfiltered' ||
    ['template_id', 'template_whitelist'].some((name) => values.ids(name) !== undefined) ||
    values.has('template_mint') ||
    (values.int('min_template_mint') ?? 0) > 1 ||
    ['only_duplicate_templates', 'has_template_buyoffer'].some((name) => values.bool(name) === true)
  )
}

/** Conditions on what the owner has, on tokens and on what other families know. */
function holdingConditions(values: Values): string[] {
  const conditions: string[] = []
  const backed = values.bool('has_backed_tokens')
  if (backed !== undefined) {
    const exists = 'EXISTS (SELECT FROM assets.backed_tokens k WHERE k.asset_id = a.asset_id)'
    conditions.push(backed ? exists : `NOT ${exists}`)
  }
  if (values.bool('only_duplicate_templates') === true) {
    conditions.push(
      `EXISTS (SELECT FROM assets.assets d WHERE d.owner = a.owner AND d.template_id = a.template_id
        AND d.asset_id < a.asset_id)`,
    )
  }
  conditions.push(...wantedCondition(values, 'a'))
  // Foreign originals are not known here, so no asset has any.
  if (['original_mint', 'min_original_mint', 'max_original_mint'].some((name) => values.has(name))) {
    conditions.push(NEVER)
  }
  if (values.text('sort') === 'original_mint') conditions.push(NEVER)
  return conditions
}

/** Whether somebody offers to buy any asset of a row's template; without a template nobody does. */
function wantedCondition(values: Values, row: 'a' | 't'): string[] {
  const isWanted = values.bool('has_template_buyoffer')
  if (isWanted === undefined) return []
  const exists = `EXISTS (SELECT FROM market.template_buyoffers b WHERE b.template_id = ${row}.template_id
    AND b.state = ${LISTED})`
  return [isWanted ? exists : `NOT ${exists}`]
}

/** Lists of templates, as conditions on an asset, `a`, or a template, `t`. */
function templateListConditions(values: Values, row: 'a' | 't', bindings: Bindings): string[] {
  const conditions: string[] = []
  const id = `${row}.template_id`
  const white = values.ids('template_whitelist')
  const black = values.ids('template_blacklist')
  const hidden = values.texts('hide_templates_by_accounts')
  if (white) conditions.push(`${id} = ANY(${bindIntegers(white, bindings)})`)
  if (black && black.length > 0) {
    conditions.push(`(${id} IS NULL OR ${id} <> ALL(${bindIntegers(black, bindings)}))`)
  }
  if (hidden && hidden.length > 0) {
    conditions.push(
      `(${id} IS NULL OR ${id} NOT IN (SELECT h.template_id FROM assets.assets h
        WHERE h.owner = ANY(${bindings.bind(hidden, 'text[]')}) AND h.template_id IS NOT NULL))`,
    )
  }
  return conditions
}

function mintConditions(values: Values, bindings: Bindings): string[] {
  const conditions: string[] = []
  const exact = values.int('template_mint')
  const least = values.int('min_template_mint')
  const most = values.int('max_template_mint')
  if (exact !== undefined) conditions.push(`a.template_mint = ${bindings.bind(exact, 'bigint')}`)
  if (least !== undefined && least > 1)
    conditions.push(`a.template_mint >= ${bindings.bind(least, 'bigint')}`)
  if (most !== undefined) {
    conditions.push(`(a.template_mint <= ${bindings.bind(most, 'bigint')} OR a.template_id IS NULL)`)
  }
  return conditions
}

function boundConditions({ values, minted }: AssetSearch, bindings: Bindings): string[] {
  const columns = { key: 'a.asset_id', cast: 'bigint', parameter: 'asset_id', isFilter: true } as const
  return [
    ...boundaryConditions(values, columns, bindings),
    ...keyBoundConditions(minted, 'a.asset_id', bindings),
  ]
}

/** Conditions on the time or the mint number that a search is sorted by. */
export function orderConditions({ values }: AssetSearch, bindings: Bindings): string[] {
  const sort = values.text('sort') ?? ''
  if (sort === BY_MINT) return mintConditions(values, bindings)
  const date = DATES[sort]
  const before = values.int('before')
  const after = values.int('after')
  if (date === undefined) return []
  return [
    ...(before === undefined ? [] : [`${date} < ${bindings.bind(before, 'bigint')}`]),
    ...(after === undefined ? [] : [`${date} > ${bindings.bind(after, 'bigint')}`]),
  ]
}

/**
 * Where the order of a search begins at the earliest: conditions that follow from its others. Nothing happens to an asset
 * before it is minted, and ids are given in that order. For mint numbers: assets without a template have none,
 * and within a template the numbers follow the ids.
 */
export function impliedConditions({ values }: AssetSearch, bindings: Bindings): string[] {
  const sort = values.text('sort') ?? ''
  if (sort === BY_MINT) {
    const most = values.int('max_template_mint')
    return [
      ...(most === undefined ? [] : [`a.template_mint <= ${bindings.bind(most, 'bigint')}`]),
      // The first asset of a template repeats none.
      ...(values.bool('only_duplicate_templates') === true ? ['a.template_mint > 1'] : []),
    ]
  }
  const date = DATES[sort]
  const lowest = values.int('lower_bound')
  if (date === undefined || lowest === undefined) return []
  return [
    `${date} >= (SELECT m.minted_at_time FROM assets.assets m
      WHERE m.asset_id >= ${bindings.bind(lowest, 'bigint')} ORDER BY m.asset_id LIMIT 1)`,
  ]
}
