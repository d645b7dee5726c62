import { choice, flag, ids, idsOrNull, int, named, names, text, texts } from '../../core/parameters/index.ts'
import type { Parameter, Values } from '../../core/endpoint/index.ts'

/** Page size when a request names none, unless the endpoint's maximum is smaller. */
const DEFAULT_PAGE_SIZE = 100

/** `page` and `limit`. @param maximum largest `limit`. */
export function paging(maximum: number) {
  return {
    page: int('Page, from 1.', { default: 1, minimum: 1 }),
    limit: int('Rows of a page.', { default: Math.min(DEFAULT_PAGE_SIZE, maximum), minimum: 1, maximum }),
  }
}

/** What {@link paging} becomes. */
export type PageValues = Values<ReturnType<typeof paging>>

/** `order`. */
export function sortOrder(standard: 'asc' | 'desc') {
  return { order: choice('Direction of the sort.', ['asc', 'desc'], { default: standard }) }
}

/** What {@link sortOrder} becomes, where there is one. */
export type OrderValues = Partial<Values<ReturnType<typeof sortOrder>>>

/** `order` and `sort`; the first sort is the default. With `lenient`, an unknown sort counts as the default. */
export function sorting(sorts: readonly [string, ...string[]], lenient = false) {
  return {
    ...sortOrder('desc'),
    sort: choice('Sort order of the rows.', sorts, { default: sorts[0], lenient }),
  }
}

/** `count`: answer with the number of rows instead of the rows. */
export const counting = { count: flag('Answer with the number of matching rows, as a decimal string.') }

/** Number of rows is wanted, or the rows. */
export type CountValues = Values<typeof counting>

/** `ids`, the key, `lower_bound`, `upper_bound`, `before`, `after`. */
function boundaries<K extends string, L, B>(
  key: K,
  isFilter: boolean,
  list: (description: string) => Parameter<L>,
  bound: (description: string) => Parameter<B>,
) {
  const own = named(key, list(`${key} is one of these; together with ids, any of both.`))
  return {
    ids: list(`${key} is one of these.`),
    ...(isFilter ? ({} as typeof own) : own),
    lower_bound: bound(`${key} is at least this.`),
    upper_bound: bound(`${key} is below this.`),
    before: int('Earlier than this time, ms since 1970.', { minimum: 1 }),
    after: int('Later than this time, ms since 1970.', { minimum: 1 }),
  }
}

/** Boundaries by a key that is an id. @param isFilter the endpoint has a filter of the same name, described elsewhere. */
export function idBoundaries<K extends string>(key: K, isFilter = false) {
  return boundaries(key, isFilter, ids, (description) => int(description, { minimum: 1 }))
}

/** The same by a key that is text. */
export function textBoundaries<K extends string>(key: K, isFilter = false) {
  const list = (description: string) => texts(description, 'named', {})
  return boundaries(key, isFilter, list, (description) => text(description, { minimum: 1 }))
}

/** What boundaries by a key of either kind become. */
export interface BoundaryValues {
  readonly ids?: readonly (bigint | string)[] | undefined
  readonly lower_bound?: number | string | undefined
  readonly upper_bound?: number | string | undefined
  readonly before?: number | undefined
  readonly after?: number | undefined
}

/** `collection_whitelist`, `collection_blacklist`. */
export const collectionLists = {
  collection_whitelist: names('Only these collections.'),
  collection_blacklist: names('Not these collections.'),
}

/** `collection_whitelist`, `collection_blacklist`, `account_blacklist`. */
export const greyLists = { ...collectionLists, account_blacklist: names('Not these accounts.') }

/** The same where the rows are not those of accounts: clients send `account_blacklist` and know that it does nothing. */
export const greyListsOfCollections = {
  ...collectionLists,
  account_blacklist: names('Checked, and without effect.'),
}

/** The conditions on one asset. */
export const assetFilter = {
  asset_id: ids('Asset is one of these.'),
  owner: names('Owner is one of these.'),
  burned: flag('Burned or not; both when absent.'),
  template_id: idsOrNull('Template is one of these; null for assets without one.'),
  collection_name: names('Collection is one of these.'),
  schema_name: names('Schema is one of these.'),
  is_transferable: flag('Template is transferable (or there is none), or is not.'),
  is_burnable: flag('Template is burnable (or there is none), or is not.'),
  minter: names('Account that authorised the mint.'),
  initial_receiver: names('Account that it was minted to.'),
  burner: names('Account that burned it.'),
}

/** Greatest length of words to search for: what they cost grows with their number. */
export const SEARCHED = { maximum: 100 } as const

/** Name search on templates. */
export const templateNameSearch = {
  match: text('Text in the name of the template, in any letter case.', SEARCHED),
  search: text('Words like these in the name of the template.', SEARCHED),
}

/** Name search on assets and their templates. */
export const assetNameSearch = {
  ...templateNameSearch,
  match_immutable_name: text("Text in the name of the asset's immutable data.", SEARCHED),
  match_mutable_name: text("Text in the name of the asset's mutable data.", SEARCHED),
}

/** `hide_offers`. */
export const hideOffers = { hide_offers: flag('Leave out assets that are part of a pending offer.', false) }

/** `action_whitelist`, `action_blacklist`. */
const logActions = {
  action_whitelist: texts('Only these actions; unknown names are ignored.'),
  action_blacklist: texts('Not these actions.'),
}

/** Parameters of the logs of something. */
export function logParameters(limit: number) {
  return { ...paging(limit), ...sortOrder('asc'), ...logActions }
}

/** What {@link logParameters} become. */
export type LogValues = Values<ReturnType<typeof logParameters>>
/** What {@link logActions} become. */
export type ActionValues = Values<typeof logActions>
/** What {@link collectionLists} become, beside names of collections. */
export interface CollectionListValues extends Values<typeof collectionLists> {
  readonly collection_name?: readonly string[] | undefined
}

/** The requested collections: those of the names and the white-list that are not black-listed; undefined for any. */
export function wantedCollections(values: CollectionListValues): readonly string[] | undefined {
  const { collection_name: named, collection_whitelist: white, collection_blacklist: black = [] } = values
  const wanted = named && white ? named.filter((name) => white.includes(name)) : (named ?? white)
  return wanted?.filter((name) => !black.includes(name))
}
