import type { Bindings } from '../../../database/index.ts'
import type { AttributeFilter, Values } from '../../../endpoint/index.ts'
import { bindIntegers } from '../../paging/index.ts'
import { contains } from './text-match.ts'

/** Condition that no row meets. */
export const NEVER = 'FALSE'

/** `column` is one of the texts of a parameter; no condition when it is absent. */
export function oneOf(column: string, list: readonly string[] | undefined, bindings: Bindings): string[] {
  if (list === undefined) return []
  if (list.length === 0) return [NEVER]
  if (list.length === 1) return [`${column} = ${bindings.bind(list[0]!, 'text')}`]
  return [`${column} = ANY(${bindings.bind(list, 'text[]')})`]
}

/** `column` is none of the texts of a parameter; no condition when it is absent or empty. */
export function noneOf(column: string, list: readonly string[] | undefined, bindings: Bindings): string[] {
  if (list === undefined || list.length === 0) return []
  // Hashed once, where `<> ALL` compares each row with one after the other (up to PostgreSQL 14).
  return [`${column} NOT IN (SELECT unnest(${bindings.bind(list, 'text[]')}))`]
}

/** The collection grey lists. */
export function collectionLists(column: string, values: Values, bindings: Bindings): string[] {
  return [
    ...oneOf(column, values.texts('collection_whitelist'), bindings),
    ...noneOf(column, values.texts('collection_blacklist'), bindings),
  ]
}

/** Collections that list an account among those that may mint and edit, as a condition on a collection column. */
export function authorizedCondition(column: string, values: Values, bindings: Bindings): string[] {
  const account = values.text('authorized_account')
  if (account === undefined) return []
  const listed = `k.authorized_accounts @> ARRAY[${bindings.bind(account, 'text')}]`
  return [`${column} IN (SELECT k.collection_name FROM assets.collections k WHERE ${listed})`]
}

/**
 * The conditions on one asset, `a`: ids, owner, burned, template, collection, schema, template flags, minter, initial
 * receiver, burner.
 * @param areResolved the templates that lack a flag were looked up, and have a condition of their own: to the planner a
 *   second one would leave out most of what the first has found.
 */
export function assetConditions(values: Values, bindings: Bindings, areResolved = false): string[] {
  const conditions: string[] = []
  const ids = values.ids('asset_id')
  if (ids) conditions.push(ids.length === 0 ? NEVER : `a.asset_id = ANY(${bindings.bindIds(ids)})`)
  conditions.push(...oneOf('a.owner', values.texts('owner'), bindings))
  const burned = values.bool('burned')
  if (burned !== undefined) conditions.push(burned ? 'a.owner IS NULL' : 'a.owner IS NOT NULL')
  const templates = values.ids('template_id')
  if (values.isNull('template_id')) conditions.push('a.template_id IS NULL')
  if (templates) conditions.push(`a.template_id = ANY(${bindIntegers(templates, bindings)})`)
  conditions.push(
    ...oneOf('a.collection_name', values.texts('collection_name'), bindings),
    ...oneOf('a.schema_name', values.texts('schema_name'), bindings),
    ...flagCondition('transferable', values.bool('is_transferable'), areResolved),
    ...flagCondition('burnable', values.bool('is_burnable'), areResolved),
    ...oneOf('a.minter', values.texts('minter'), bindings),
    ...oneOf('a.initial_receiver', values.texts('initial_receiver'), bindings),
    ...oneOf('a.burned_by_account', values.texts('burner'), bindings),
  )
  return conditions
}

/** A flag of the template; an asset without a template has both flags set. */
function flagCondition(
  flag: 'transferable' | 'burnable',
  wanted: boolean | undefined,
  areResolved: boolean,
): string[] {
  if (wanted === undefined || (!wanted && areResolved)) return []
  const unset = `EXISTS (SELECT FROM assets.templates f WHERE f.template_id = a.template_id AND NOT f.${flag})`
  return [wanted ? `NOT ${unset}` : unset]
}

/** Attribute filters and name search on the asset's own data. */
export function ownDataConditions(
  values: Values,
  attributes: readonly AttributeFilter[],
  bindings: Bindings,
): string[] {
  const conditions: string[] = []
  for (const { family, containment } of attributes) {
    if (family !== 'immutable_data' && family !== 'mutable_data') continue
    conditions.push(
      containment === undefined ? NEVER : `a.${family} @> ${bindings.bind(containment, 'jsonb')}`,
    )
  }
  const immutableName = values.text('match_immutable_name')
  const mutableName = values.text('match_mutable_name')
  if (immutableName) conditions.push(contains("(a.immutable_data ->> 'name')", immutableName, bindings))
  if (mutableName) conditions.push(contains("(a.mutable_data ->> 'name')", mutableName, bindings))
  return conditions
}

/** `hide_offers`: the asset is not part of an offer in state 0. */
export function hideOffersCondition(values: Values): string[] {
  if (values.bool('hide_offers') !== true) return []
  return [
    `NOT EXISTS (SELECT FROM assets.open_offer_assets x JOIN assets.offers p USING (offer_id)
      WHERE x.asset_id = a.asset_id AND p.state = 0)`,
  ]
}
