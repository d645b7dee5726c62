import type { Bindings } from '../../../database/index.ts'
import type { Values } from '../../../endpoint/index.ts'
import { RequestError } from '../../../endpoint/index.ts'
import { collectionLists, NEVER, noneOf, oneOf } from '../../assets/index.ts'
import { boundaryConditions } from '../../paging/index.ts'
import type { ListingTable } from './listing-table.ts'

/** Most collections beside a filter by effective mint number. */
const MAX_MINT_COLLECTIONS = 50

/** Conditions on the row of a listing that every kind has; those on collections, prices and assets are elsewhere. */
export function listingConditions(table: ListingTable, values: Values, bindings: Bindings): string[] {
  return [
    ...partyConditions(values, bindings),
    ...marketplaceConditions(values, bindings),
    ...mintConditions(table, values, bindings),
    ...oneOf(table.symbol, values.texts('symbol'), bindings),
    ...boundaryConditions(
      values,
      { key: table.key, cast: 'bigint', parameter: table.parameter, date: timeColumn(values) },
      bindings,
    ),
  ]
}

/** Of the collections that are named, those that the black list leaves. */
export function collectionConditions(values: Values, bindings: Bindings): string[] {
  const black = values.texts('collection_blacklist')
  const left = values.texts('collection_name')?.filter((name) => black?.includes(name) !== true)
  if (!left) return collectionLists('l.collection_name', values, bindings)
  return [
    ...oneOf('l.collection_name', left, bindings),
    ...collectionLists('l.collection_name', values.without(['collection_blacklist']), bindings),
  ]
}

/** The time that `before` and `after` compare. */
export function timeColumn(values: Values): string {
  return values.text('sort') === 'updated' ? 'l.updated_at_time' : 'l.created_at_time'
}

function partyConditions(values: Values, bindings: Bindings): string[] {
  const conditions = [
    ...oneOf('l.seller', values.texts('seller'), bindings),
    ...oneOf('l.buyer', values.texts('buyer'), bindings),
  ]
  const accounts = values.texts('account')
  if (accounts?.length === 0) conditions.push(NEVER)
  else if (accounts) {
    const list = bindings.bind(accounts, 'text[]')
    conditions.push(`(l.seller = ANY(${list}) OR l.buyer = ANY(${list}))`)
  }
  for (const [parameter, column] of [
    ['seller_blacklist', 'l.seller'],
    ['buyer_blacklist', 'l.buyer'],
  ] as const) {
    const [unlike] = noneOf(column, values.texts(parameter), bindings)
    if (unlike !== undefined) conditions.push(`(${column} IS NULL OR ${unlike})`)
  }
  if (values.bool('show_seller_contracts') === false) conditions.push(withoutCode(values, bindings))
  return conditions
}

/** The seller has no code, unless it is named in `contract_whitelist`. */
function withoutCode(values: Values, bindings: Bindings): string {
  const [unnamed] = noneOf('h.account', values.texts('contract_whitelist'), bindings)
  const exempt = unnamed === undefined ? '' : ` AND ${unnamed}`
  return `NOT EXISTS (SELECT FROM chain.code_accounts h WHERE h.account = l.seller${exempt})`
}

function marketplaceConditions(values: Values, bindings: Bindings): string[] {
  const either = values.texts('marketplace')
  if (either) {
    const list = bindings.bind(either, 'text[]')
    return [`(l.maker_marketplace = ANY(${list}) OR l.taker_marketplace = ANY(${list}))`]
  }
  return [
    ...oneOf('l.maker_marketplace', values.texts('maker_marketplace'), bindings),
    ...oneOf('l.taker_marketplace', values.texts('taker_marketplace'), bindings),
  ]
}

/**
 * Mint ranges lie inside the wanted one. A foreign original is not known of any asset, so the effective mint number
 * is that of the template.
 *
 * @throws RequestError 400 for a range that is empty, or an effective one without collections.
 */
function mintConditions({ mints, kind }: ListingTable, values: Values, bindings: Bindings): string[] {
  const [lowest, highest] = mints
  const conditions: string[] = []
  const least = values.int('min_template_mint')
  const most = values.int('max_template_mint')
  if (least !== undefined && most !== undefined && least > most) {
    throw new RequestError(400, "Min template mint can't be greater than max template mint")
  }
  if (least !== undefined) conditions.push(`${lowest} >= ${bindings.bind(least, 'bigint')}`)
  if (most !== undefined) {
    const below = `${highest} <= ${bindings.bind(most, 'bigint')}`
    // What an open template buy offer will bring is not known: it has no range rather than an empty one.
    conditions.push(least === undefined && kind !== 4 ? `(${below} OR ${highest} IS NULL)` : below)
  }
  return [...conditions, ...effectiveMintConditions(lowest, highest, values, bindings)]
}

function effectiveMintConditions(
  lowest: string,
  highest: string,
  values: Values,
  bindings: Bindings,
): string[] {
  const least = values.int('min_effective_mint')
  const most = values.int('max_effective_mint')
  const isSorted = values.text('sort') === 'effective_mint'
  if (least === undefined && most === undefined && !isSorted) return []
  const collections = values.texts('collection_name')
  if (!collections) {
    throw new RequestError(400, 'The effective mint filters and sort require collection_name')
  }
  if (collections.length > MAX_MINT_COLLECTIONS) {
    const message = `The effective mint filters and sort accept at most ${MAX_MINT_COLLECTIONS} collection names`
    throw new RequestError(400, message)
  }
  if (least !== undefined && most !== undefined && least > most) {
    throw new RequestError(400, "Min effective mint can't be greater than max effective mint")
  }
  return [
    `${lowest} IS NOT NULL`,
    ...(least === undefined ? [] : [`${lowest} >= ${bindings.bind(least, 'bigint')}`]),
    ...(most === undefined ? [] : [`${highest} <= ${bindings.bind(most, 'bigint')}`]),
  ]
}

/** `min_assets`, `max_assets`. */
export function assetNumberConditions(values: Values, bindings: Bindings): string[] {
  const least = values.int('min_assets')
  const most = values.int('max_assets')
  return [
    ...(least === undefined ? [] : [`l.asset_count >= ${bindings.bind(least, 'bigint')}`]),
    // Bundles are few, and have an index.
    ...(least !== undefined && least > 1 ? ['l.asset_count > 1'] : []),
    ...(most === undefined ? [] : [`l.asset_count <= ${bindings.bind(most, 'bigint')}`]),
  ]
}

/** The states that a request names; numbers too large for any state are left out. Undefined when it names none. */
export function wantedStates(values: Values): readonly number[] | undefined {
  return values
    .ids('state')
    ?.filter((state) => state >= 0n && state <= 100n)
    .map(Number)
}
