import type { Session } from '../../../database/index.ts'
import { Bindings } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import type { Arm, PageQuery } from '../../paging/index.ts'
import {
  bindIntegers,
  boundaryConditions,
  countRows,
  directionOf,
  keyTimeConditions,
  selectPage,
} from '../../paging/index.ts'
import {
  assetConditions,
  collectionLists,
  hideOffersCondition,
  NEVER,
  oneOf,
  ownDataConditions,
} from './asset-conditions.ts'
import type { ResolvedTemplates } from './template-conditions.ts'
import { resolvedTemplateCondition, resolveTemplates } from './template-conditions.ts'

/** Owners, templates or collections up to which each is read from its index on its own. */
const MAX_DRIVERS = 64

/** State of template buy offers that can be accepted. */
const LISTED = 0

const MERGED_NAME = `((coalesce(n.mutable_data, '{}'::jsonb) || coalesce(a.mutable_data, '{}'::jsonb)
  || coalesce(a.immutable_data, '{}'::jsonb) || coalesce(n.immutable_data, '{}'::jsonb)) ->> 'name') COLLATE "C"`

const orders: Readonly<Record<string, (direction: string) => string>> = {
  updated: (direction) => `a.updated_at_time ${direction}, a.asset_id`,
  transferred: (direction) => `a.transferred_at_time ${direction}, a.asset_id`,
  template_mint: (direction) => `a.template_mint ${direction} NULLS LAST, a.asset_id`,
  name: (direction) => `${MERGED_NAME} ${direction} NULLS LAST, a.asset_id`,
}

/** Ids of the page of assets that a request asks for. */
export async function selectAssetPage(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<string[]> {
  const query = await assetQuery(session, values, attributes, trigrams)
  return selectPage(session, values, query)
}

/** Number of assets that satisfy a request, as text. */
export async function countAssets(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<string> {
  return countRows(session, await assetQuery(session, values, attributes, trigrams))
}

/** The page of assets that a request asks for; keys are asset ids. */
export async function assetQuery(
  session: Session,
  values: Values,
  attributes: readonly AttributeFilter[],
  trigrams: boolean,
): Promise<PageQuery> {
  const bindings = new Bindings()
  const resolved = await resolveTemplates(session, values, attributes, trigrams)
  const sort = values.text('sort')!
  const direction = directionOf(values)
  const conditions = [
    ...assetConditions(values, bindings),
    ...assetListConditions(values, bindings),
    ...ownDataConditions(values, attributes, bindings),
    ...resolvedTemplateCondition(resolved, values, attributes, trigrams, bindings),
    ...(await timeConditions(session, values, sort, bindings)),
  ]
  const from = 'assets.assets a'
  const order = orders[sort]
  if (sort === 'original_mint') conditions.push(NEVER)
  if (order) {
    const joined =
      sort === 'name' ? `${from} LEFT JOIN assets.templates n ON n.template_id = a.template_id` : from
    return { key: 'a.asset_id', from: joined, conditions, order: order(direction), bindings }
  }
  return {
    key: 'a.asset_id',
    from,
    conditions,
    order: `a.asset_id ${direction}`,
    keyDirection: direction,
    arms: () => assetArms(values, resolved, bindings),
    bindings,
  }
}

/**
 * Where assets of several owners, templates or collections are wanted, each has its own stretch of an index in the
 * order of the ids; one index scan over all of them would have to sort. A collection's stretches are its schemas'.
 */
function assetArms(values: Values, resolved: ResolvedTemplates, bindings: Bindings): Arm[] | undefined {
  if (values.has('asset_id') || values.has('ids')) return undefined
  const templates = resolved.kind === 'ids' ? resolved.ids : values.ids('template_id')
  if (templates && templates.length <= MAX_DRIVERS) {
    if (templates.length < 2) return undefined
    const list =
      resolved.kind === 'ids'
        ? bindings.bind(resolved.ids, 'integer[]')
        : bindIntegers(values.ids('template_id')!, bindings)
    return [{ drivers: `unnest(${list}) AS b(template_id)`, link: 'a.template_id = b.template_id' }]
  }
  const owners = values.texts('owner')
  if (owners) {
    if (owners.length < 2 || owners.length > MAX_DRIVERS) return undefined
    return [{ drivers: `unnest(${bindings.bind(owners, 'text[]')}) AS b(owner)`, link: 'a.owner = b.owner' }]
  }
  const collections = values.texts('collection_name') ?? values.texts('collection_whitelist')
  if (!collections || collections.length === 0 || collections.length > MAX_DRIVERS || templates)
    return undefined
  const schemas = oneOf('s.schema_name', values.texts('schema_name'), bindings)
  const within = [...oneOf('s.collection_name', collections, bindings), ...schemas].join(' AND ')
  return [
    {
      drivers: `(SELECT s.collection_name, s.schema_name FROM assets.schemas s WHERE ${within}) b`,
      link: 'a.collection_name = b.collection_name AND a.schema_name = b.schema_name',
    },
  ]
}

/** The conditions that only the asset list has. */
function assetListConditions(values: Values, bindings: Bindings): string[] {
  const conditions = collectionLists('a.collection_name', values, bindings)
  conditions.push(...hideOffersCondition(values))
  const authorized = values.text('authorized_account')
  if (authorized !== undefined) {
    conditions.push(
      `a.collection_name IN (SELECT k.collection_name FROM assets.collections k
        WHERE ${bindings.bind(authorized, 'text')} = ANY(k.authorized_accounts))`,
    )
  }
  conditions.push(...templateListConditions(values, bindings))
  const backed = values.bool('has_backed_tokens')
  if (backed !== undefined) {
    const exists = 'EXISTS (SELECT FROM assets.backed_tokens k WHERE k.asset_id = a.asset_id)'
    conditions.push(backed ? exists : `NOT ${exists}`)
  }
  if (values.bool('only_duplicate_templates') === true) {
    conditions.push(
      `EXISTS (SELECT FROM assets.assets d WHERE d.template_id = a.template_id AND d.owner = a.owner
        AND d.asset_id < a.asset_id)`,
    )
  }
  conditions.push(...templateBuyofferCondition(values))
  // The chain tells nothing of foreign originals, so no asset has any.
  if (['original_mint', 'min_original_mint', 'max_original_mint'].some((name) => values.has(name))) {
    conditions.push(NEVER)
  }
  return [...conditions, ...mintConditions(values, bindings)]
}

/** Whether somebody offers to buy any asset of the template; an asset without a template has no such offer. */
function templateBuyofferCondition(values: Values): string[] {
  const wanted = values.bool('has_template_buyoffer')
  if (wanted === undefined) return []
  const exists = `EXISTS (SELECT FROM market.template_buyoffers b WHERE b.template_id = a.template_id
    AND b.state = ${LISTED})`
  return [wanted ? exists : `NOT ${exists}`]
}

function templateListConditions(values: Values, bindings: Bindings): string[] {
  const conditions: string[] = []
  const white = values.ids('template_whitelist')
  const black = values.ids('template_blacklist')
  const hidden = values.texts('hide_templates_by_accounts')
  if (white) conditions.push(`a.template_id = ANY(${bindIntegers(white, bindings)})`)
  if (black && black.length > 0) {
    conditions.push(`(a.template_id IS NULL OR a.template_id <> ALL(${bindIntegers(black, bindings)}))`)
  }
  if (hidden && hidden.length > 0) {
    conditions.push(
      `(a.template_id IS NULL OR a.template_id NOT IN (SELECT h.template_id FROM assets.assets h
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

/**
 * Bounds of key and time. The time is that of the sort, otherwise the mint: ids are given in mint order, so a mint
 * time is a bound of the id.
 */
async function timeConditions(
  session: Session,
  values: Values,
  sort: string,
  bindings: Bindings,
): Promise<string[]> {
  const columns = { key: 'a.asset_id', cast: 'bigint', parameter: 'asset_id', isFilter: true } as const
  const dates: Readonly<Record<string, string>> = {
    updated: 'a.updated_at_time',
    transferred: 'a.transferred_at_time',
  }
  const date = dates[sort]
  if (date !== undefined) return boundaryConditions(values, { ...columns, date }, bindings)
  const minted = { table: 'assets.assets', key: 'asset_id', time: 'minted_at_time' }
  return [
    ...boundaryConditions(values, columns, bindings),
    ...(await keyTimeConditions(session, values, 'a.asset_id', minted, bindings)),
  ]
}
