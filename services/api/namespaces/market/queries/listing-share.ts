import { Bindings, whereClause } from '../../../database/index.ts'
import type { EndpointContext, Values } from '../../../endpoint/index.ts'
import { oneOf } from '../../assets/index.ts'
import type { PageQuery } from '../../paging/index.ts'
import { bindIntegers } from '../../paging/index.ts'
import type { ResolvedAssets } from './listed-assets.ts'
import { isCovered } from './asset-filter.ts'
import { expectationOf } from './expectation.ts'
import { isByMint } from './listing-order.ts'
import type { ListingTable } from './listing-table.ts'

/**
 * Listings up to which all that match are sorted at once, after a glance at the beginning of the order, and after a look
 * at a stretch of it.
 */
const FEW = 3_000
const MODERATE = 25_000
const SOME = 120_000
/** The same for assets whose listings are looked up one by one. */
const FEW_ASSETS = 10_000
const SOME_ASSETS = 60_000
/** The share of assets that match from which on a look at a stretch is worth it, however few they are. */
const OFTEN = 0.03
/** The same where an index alone tells which they are: then a look does not take long. */
const OFTEN_TOLD = 0.01

/** Templates up to which the listings of those that are not hidden are looked up, where as many are hidden. */
const MAX_VISIBLE = 2_000

/** Parameters that leave an order as it is, or that its indexes begin with. */
const IN_ORDER = new Set([
  ...['page', 'limit', 'sort', 'order', 'count', 'state', 'collection_name', 'collection_whitelist'],
  ...['show_seller_contracts', 'contract_whitelist'],
])

/** Orders in which nothing but states and collections have places of their own. */
const BARE_ORDERS: readonly (string | undefined)[] = ['name', 'template_mint', 'effective_mint']

/** Filters that no index serves beside an order. */
const LOOKED_FOR = [
  ...['min_assets', 'min_template_mint', 'max_template_mint', 'min_effective_mint', 'max_effective_mint'],
  ...['template_id', 'hide_templates_by_accounts', 'match', 'search'],
  ...['match_immutable_name', 'match_mutable_name', 'is_transferable', 'is_burnable'],
]

/** How many of the listings match: so the page is read. Where no index finds them it does not matter. */
type Share = 'few' | 'moderate' | 'some' | 'many' | 'unknown'

/** The share, and the number where the planner was asked. */
export interface Matching {
  readonly share: Share
  readonly number?: number
}

/** Whether a request has filters that its order knows nothing of. */
export function isNarrowed({ values }: EndpointContext, resolved: ResolvedAssets): boolean {
  if (resolved.ids || resolved.isDetailed || resolved.templates.kind !== 'unfiltered') return true
  if (isBare(values)) return values.names().some((name) => !IN_ORDER.has(name))
  return LOOKED_FOR.some((name) => values.has(name))
}

/** Whether nothing but states and collections have places of their own in the order. */
export function isBare(values: Values): boolean {
  return BARE_ORDERS.includes(values.text('sort'))
}

/** Whether the index of sales by their template has what the order asks for, or the template does. */
function isCoveredOrder(values: Values, named: ResolvedAssets['named']): boolean {
  const sort = values.text('sort')
  if (sort === 'name') return named !== undefined
  return (
    sort === undefined || ['created', 'sale_id', 'price', 'template_mint', 'effective_mint'].includes(sort)
  )
}

/** How many listings match. @param all the query that reads them all */
export async function matching(
  { session, values }: EndpointContext,
  table: ListingTable,
  all: PageQuery,
  {
    ids,
    isDetailed,
    isForetold,
    isIndexOnly,
    templates,
    named,
    expected = Infinity,
    among = Infinity,
  }: ResolvedAssets,
): Promise<Matching> {
  if (ids) return { share: 'few' }
  if (isDetailed && !isForetold) {
    const often = isIndexOnly ? OFTEN_TOLD : OFTEN
    if (expected <= FEW_ASSETS && expected / among < often) return { share: 'few' }
    return { share: expected <= SOME_ASSETS ? 'some' : 'many' }
  }
  const text = `SELECT * FROM ${all.from} ${whereClause(all.conditions)}`
  const { rows, walked } = await expectationOf(session, { text, values: all.bindings.values })
  // No index finds them; that of their templates would, if they were fewer.
  if (walked.some((name) => table.from.startsWith(`market.${name} `)))
    return { share: templates.kind === 'ids' ? 'many' : 'unknown' }
  const isOfCollection = values.has('collection_name')
  // What is checked late is expected to leave out every second row, and leaves out next to none.
  const number = isForetold ? 2 * rows : rows
  // What a glance would look at takes longer than the sort, unless the assets are nearly all of the collection.
  const isSoonSorted = isForetold
    ? !isOfCollection && !isBare(values)
    : (templates.kind === 'ids' || named !== undefined) &&
      isCovered(table, values) &&
      isCoveredOrder(values, named)
  if (number <= FEW || (isSoonSorted && number <= MODERATE)) return { share: 'few', number }
  if (number <= MODERATE) return { share: 'moderate', number }
  return { share: number <= SOME ? 'some' : 'many', number }
}

/**
 * Where accounts own assets of nearly all templates, the templates that are left when theirs are hidden; undefined where
 * those are many, or other filters choose among them.
 */
export async function visibleTemplates(
  { session, values }: EndpointContext,
  { hidden, templates, named }: ResolvedAssets,
): Promise<readonly number[] | undefined> {
  if (hidden.length === 0 || templates.kind !== 'unfiltered' || named) return undefined
  if (values.isNull('template_id') || values.ids('template_id')) return undefined
  const bindings = new Bindings()
  const conditions = [
    `t.template_id NOT IN (SELECT unnest(${bindings.bind(hidden, 'integer[]')}))`,
    ...oneOf('t.collection_name', values.texts('collection_name'), bindings),
  ]
  const most = Math.min(MAX_VISIBLE, hidden.length)
  const rows = await session.query<[number]>({
    text: `SELECT t.template_id FROM assets.templates t ${whereClause(conditions)} LIMIT ${most + 1}`,
    values: bindings.values,
  })
  return rows.length > most ? undefined : rows.map(([id]) => id)
}

/**
 * In the order of mint numbers, highest first: a number that no listing that matches is above, undefined where nothing
 * tells it. An asset's number is at most the supply of its template, and the lowest of a bundle at most that of any.
 */
export async function highestMint(
  { session, values }: EndpointContext,
  { templates, hidden }: ResolvedAssets,
): Promise<bigint | undefined> {
  if (!isByMint(values) || values.text('order') === 'asc') return undefined
  const bindings = new Bindings()
  const given = values.ids('template_id')
  const conditions = [
    ...(templates.kind === 'ids'
      ? [`t.template_id = ANY(${bindings.bind(templates.ids, 'integer[]')})`]
      : []),
    ...(given ? [`t.template_id = ANY(${bindIntegers(given, bindings)})`] : []),
    ...(hidden.length > 0
      ? [`t.template_id NOT IN (SELECT unnest(${bindings.bind(hidden, 'integer[]')}))`]
      : []),
  ]
  if (conditions.length === 0) return undefined
  conditions.push(...oneOf('t.collection_name', values.texts('collection_name'), bindings))
  const rows = await session.query<[string]>({
    text: `SELECT t.issued_supply::text FROM assets.templates t ${whereClause(conditions)} ORDER BY t.issued_supply DESC LIMIT 1`,
    values: bindings.values,
  })
  return BigInt(rows[0]?.[0] ?? 0)
}
