import type { Parameter } from '../../endpoint/index.ts'
import { assetFilter, assetNameSearch, greyLists } from '../parameter-groups/index.ts'

const names = { type: 'name', list: 'named' } as const
const mint = { type: 'int', minimum: 1 } as const
const marketplaces = { type: 'string', list: 'comma', minimum: 1 } as const

/** `collection_whitelist`, `collection_blacklist`. */
export const collectionLists: readonly Parameter[] = greyLists.filter(
  ({ name }) => name !== 'account_blacklist',
)

/** `state`. @param states what the numbers mean, for example `1 listed, 3 sold`. */
export function stateParameter(states: string): Parameter {
  return { name: 'state', type: 'id', list: 'comma', description: `${states}. Several by comma.` }
}

const parties: readonly Parameter[] = [
  { name: 'account', ...names, description: 'Seller or buyer is one of these.' },
  { name: 'seller', ...names, description: 'Seller is one of these.' },
  { name: 'buyer', ...names, description: 'Buyer is one of these.' },
  { name: 'seller_blacklist', ...names, description: 'Seller is none of these.' },
  { name: 'buyer_blacklist', ...names, description: 'Buyer is none of these; what has no buyer stays.' },
  {
    name: 'show_seller_contracts',
    type: 'bool',
    default: 'true',
    description: 'false: without listings of accounts that have code.',
  },
  { name: 'contract_whitelist', ...names, description: 'Accounts with code that are shown all the same.' },
]

const agents: readonly Parameter[] = [
  { name: 'maker_marketplace', ...marketplaces, description: 'Marketplace that it was listed on.' },
  { name: 'taker_marketplace', ...marketplaces, description: 'Marketplace that it was bought on.' },
  {
    name: 'marketplace',
    ...marketplaces,
    description: 'Either marketplace is one of these; stands above the other two.',
  },
]

const mintRange: readonly Parameter[] = [
  { name: 'min_template_mint', ...mint, description: 'Every mint number in it is at least this.' },
  {
    name: 'max_template_mint',
    ...mint,
    description: 'Every mint number in it is at most this; without a minimum, listings without any stay.',
  },
  {
    name: 'min_effective_mint',
    ...mint,
    description: 'The same with original mint numbers where there are any; needs collection_name.',
  },
  {
    name: 'max_effective_mint',
    ...mint,
    description: 'The same; listings without a mint number do not match; needs collection_name.',
  },
]

const price: readonly Parameter[] = [
  {
    name: 'symbol',
    type: 'string',
    list: 'comma',
    minimum: 1,
    description: 'Token of the price is one of these.',
  },
  {
    name: 'min_price',
    type: 'decimal',
    minimum: 0,
    description: 'Price in whole tokens is at least this; needs exactly one symbol. 0 means none.',
  },
  {
    name: 'max_price',
    type: 'decimal',
    minimum: 0,
    description: 'Price in whole tokens is at most this; needs exactly one symbol. 0 means none.',
  },
]

/** Filters that every kind of listing has. The conditions on assets must all be met by one and the same asset. */
export const listingFilter: readonly Parameter[] = [
  ...parties,
  ...agents,
  ...mintRange,
  ...price,
  ...assetFilter,
  ...assetNameSearch,
  ...collectionLists,
]

/** `min_assets`, `max_assets`. */
export const assetNumbers: readonly Parameter[] = [
  { name: 'min_assets', ...mint, description: 'Contains at least so many assets.' },
  { name: 'max_assets', ...mint, description: 'Contains at most so many assets.' },
]

/** `template_blacklist`, `hide_templates_by_accounts`. */
export const templateLists: readonly Parameter[] = [
  {
    name: 'template_blacklist',
    type: 'id',
    list: 'named',
    description: 'Contains no asset of these templates.',
  },
  {
    name: 'hide_templates_by_accounts',
    ...names,
    description: 'Contains no asset of a template of which one of these accounts owns an asset.',
  },
]

/** `symbol` of the statistics: one token, which must be given. */
export const statsSymbol: Parameter = {
  name: 'symbol',
  type: 'string',
  minimum: 1,
  description: 'Token that is counted; required.',
}

/** `before` and `after` of the statistics. */
export const tradeTimes: readonly Parameter[] = [
  { name: 'before', type: 'int', minimum: 1, description: 'Trades before this time, ms since 1970.' },
  { name: 'after', type: 'int', minimum: 1, description: 'Trades after this time, ms since 1970.' },
]

/** `symbol` of the prices: any number of tokens. */
export const priceSymbols: Parameter = {
  name: 'symbol',
  type: 'string',
  list: 'comma',
  minimum: 1,
  description: 'Token is one of these.',
}
