import { SEARCH_LENGTH } from '../../endpoint/index.ts'
import type { Parameter } from '../../endpoint/index.ts'

/** Page size when a request names none, unless the endpoint's maximum is smaller. */
const DEFAULT_PAGE_SIZE = 100

/** `page` and `limit`. @param maximum largest `limit`. */
export function paging(maximum: number): Parameter[] {
  return [
    { name: 'page', type: 'int', default: '1', minimum: 1, description: 'Page, from 1.' },
    {
      name: 'limit',
      type: 'int',
      default: String(Math.min(DEFAULT_PAGE_SIZE, maximum)),
      minimum: 1,
      maximum,
      description: 'Rows of a page.',
    },
  ]
}

/** `order`. */
export function sortOrder(standard: 'asc' | 'desc'): Parameter {
  return {
    name: 'order',
    type: 'string',
    default: standard,
    values: ['asc', 'desc'],
    description: 'Direction of the sort.',
  }
}

/** `order` and `sort`; the first sort is the default. With `lenient`, an unknown sort counts as the default. */
export function sorting(sorts: readonly string[], options: { lenient?: boolean } = {}): Parameter[] {
  return [
    sortOrder('desc'),
    {
      name: 'sort',
      type: 'string',
      default: sorts[0]!,
      values: sorts,
      ...(options.lenient ? { lenient: true } : {}),
      description: 'What the rows are sorted by.',
    },
  ]
}

/** `count`: answer with the number of rows instead of the rows. */
export const counting: Parameter = {
  name: 'count',
  type: 'bool',
  description: 'Answer with the number of matching rows, as a decimal string.',
}

/** The primary key that the boundaries of an endpoint compare. */
export interface BoundaryKey {
  readonly name: string
  readonly type: 'id' | 'string'
  /** The endpoint has a filter of the same name, described elsewhere. */
  readonly isFilter?: boolean
}

/** `ids`, the key, `lower_bound`, `upper_bound`, `before`, `after`. */
export function boundaries(key: BoundaryKey): Parameter[] {
  const bound =
    key.type === 'id' ? ({ type: 'int', minimum: 1 } as const) : ({ type: 'string', minimum: 1 } as const)
  const list = { type: key.type, list: 'named' } as const
  const own: Parameter[] = key.isFilter
    ? []
    : [
        {
          name: key.name,
          ...list,
          description: `${key.name} is one of these; together with ids, any of both.`,
        },
      ]
  return [
    { name: 'ids', ...list, description: `${key.name} is one of these.` },
    ...own,
    { name: 'lower_bound', ...bound, description: `${key.name} is at least this.` },
    { name: 'upper_bound', ...bound, description: `${key.name} is below this.` },
    { name: 'before', type: 'int', minimum: 1, description: 'Earlier than this time, ms since 1970.' },
    { name: 'after', type: 'int', minimum: 1, description: 'Later than this time, ms since 1970.' },
  ]
}

/** `collection_whitelist`, `collection_blacklist`. */
export const collectionLists: readonly Parameter[] = [
  {
    name: 'collection_whitelist',
    type: 'name',
    list: 'named',
    description: 'Only these collections.',
  },
  { name: 'collection_blacklist', type: 'name', list: 'named', description: 'Not these collections.' },
]

const accountBlacklist = { name: 'account_blacklist', type: 'name', list: 'named' } as const

/** `collection_whitelist`, `collection_blacklist`, `account_blacklist`. */
export const greyLists: readonly Parameter[] = [
  ...collectionLists,
  { ...accountBlacklist, description: 'Not these accounts.' },
]

/** The same where the rows are not those of accounts: clients send `account_blacklist` and know that it does nothing. */
export const greyListsOfCollections: readonly Parameter[] = [
  ...collectionLists,
  { ...accountBlacklist, description: 'Checked, and without effect.' },
]

/** The conditions on one asset. */
export const assetFilter: readonly Parameter[] = [
  { name: 'asset_id', type: 'id', list: 'named', description: 'Asset is one of these.' },
  { name: 'owner', type: 'name', list: 'named', description: 'Owner is one of these.' },
  { name: 'burned', type: 'bool', description: 'Burned or not; both when absent.' },
  {
    name: 'template_id',
    type: 'id',
    list: 'named',
    nullable: true,
    description: 'Template is one of these; null for assets without one.',
  },
  { name: 'collection_name', type: 'name', list: 'named', description: 'Collection is one of these.' },
  { name: 'schema_name', type: 'name', list: 'named', description: 'Schema is one of these.' },
  {
    name: 'is_transferable',
    type: 'bool',
    description: 'Template is transferable (or there is none), or is not.',
  },
  { name: 'is_burnable', type: 'bool', description: 'Template is burnable (or there is none), or is not.' },
  { name: 'minter', type: 'name', list: 'named', description: 'Account that authorised the mint.' },
  { name: 'initial_receiver', type: 'name', list: 'named', description: 'Account that it was minted to.' },
  { name: 'burner', type: 'name', list: 'named', description: 'Account that burned it.' },
]

const searched = { type: 'string', maximum: SEARCH_LENGTH } as const

/** Name search on templates. */
export const templateNameSearch: readonly Parameter[] = [
  { name: 'match', ...searched, description: 'Text in the name of the template, in any letter case.' },
  { name: 'search', ...searched, description: 'Words like these in the name of the template.' },
]

/** Name search on assets and their templates. */
export const assetNameSearch: readonly Parameter[] = [
  ...templateNameSearch,
  {
    name: 'match_immutable_name',
    ...searched,
    description: "Text in the name of the asset's immutable data.",
  },
  {
    name: 'match_mutable_name',
    ...searched,
    description: "Text in the name of the asset's mutable data.",
  },
]

/** `hide_offers`. */
export const hideOffers: Parameter = {
  name: 'hide_offers',
  type: 'bool',
  default: 'false',
  description: 'Leave out assets that are part of a pending offer.',
}

const actionNames = { type: 'string', list: 'comma', minimum: 1 } as const

/** `action_whitelist`, `action_blacklist`. */
export const logActions: readonly Parameter[] = [
  { name: 'action_whitelist', ...actionNames, description: 'Only these actions; unknown names are ignored.' },
  { name: 'action_blacklist', ...actionNames, description: 'Not these actions.' },
]
