import type { ListingKey } from './lists/listing-table.ts'
import {
  choice,
  choices,
  decimal,
  flag,
  id,
  ids,
  idsOrNull,
  inPath,
  int,
  name,
  names,
  text,
  texts,
} from '../../../core/parameters/index.ts'
import type { Values } from '../../../core/endpoint/index.ts'
import {
  ofAccount,
  ofCollection,
  assetFilter,
  assetNameSearch,
  collectionLists,
} from '../nft/parameters/index.ts'
import { counting, createdOrUpdated, paging, sorting, sortOrder, idBoundaries } from '../nft/paging/index.ts'
import { categories, listingTypes } from './records/royalty-records.ts'
import { tradeTimes } from './aggregates/parameters.ts'

const parties = {
  account: names('Seller or buyer is one of the given values.'),
  seller: names('Seller is one of the given values.'),
  buyer: names('Buyer is one of the given values.'),
  seller_blacklist: names('Seller is none of the given values.'),
  buyer_blacklist: names('Buyer is none of the given values; listings without a buyer match.'),
  show_seller_contracts: flag('false: leave out listings whose seller has or once had contract code.', true),
  contract_whitelist: names(
    'Sellers with contract code whose listings are shown even if show_seller_contracts is false.',
  ),
}

const agents = {
  maker_marketplace: texts('Marketplace of the listing is one of the given values.'),
  taker_marketplace: texts('Marketplace of the purchase is one of the given values.'),
  marketplace: texts(
    'Marketplace of the listing or of the purchase is one of the given values; maker_marketplace and taker_marketplace are then ignored.',
  ),
}

const mintRange = {
  min_template_mint: int('Every mint number in the listing is at least this number.', { minimum: 1 }),
  max_template_mint: int(
    'Every mint number in the listing is at most this number; without min_template_mint in the request, listings without a mint number match as well.',
    { minimum: 1 },
  ),
  min_effective_mint: int('Same as min_template_mint; needs collection_name.', { minimum: 1 }),
  max_effective_mint: int(
    'Same as max_template_mint, but listings without a mint number never match; needs collection_name.',
    { minimum: 1 },
  ),
}

const price = {
  symbol: texts('Token of the price is one of the given values.'),
  min_price: decimal(
    'Price in whole tokens is at least this number; needs exactly one symbol. 0: no limit.',
    0,
  ),
  max_price: decimal(
    'Price in whole tokens is at most this number; needs exactly one symbol. 0: no limit.',
    0,
  ),
}

/** Filters of every kind of listing. One asset must match all conditions on assets. */
const listingFilter = {
  ...parties,
  ...agents,
  ...mintRange,
  ...price,
  ...assetFilter,
  ...assetNameSearch,
  ...collectionLists,
}

/** Parameters `min_assets` and `max_assets`. */
const assetNumbers = {
  min_assets: int('Number of assets in the listing is at least this number.', { minimum: 1 }),
  max_assets: int('Number of assets in the listing is at most this number.', { minimum: 1 }),
}

/** Parameters `template_blacklist` and `hide_templates_by_accounts`. */
const templateLists = {
  template_blacklist: ids('Leave out listings with an asset of the given templates.'),
  hide_templates_by_accounts: names(
    'Leave out a listing if one of the given accounts owns an asset of a template in the listing.',
  ),
}

/** Parameters of the list of the cheapest sale of each template. */
export function cheapestParameters(limit: number) {
  return {
    ...paging(limit),
    ...sorting(['template_id', 'price']),
    ...listingFilter,
    ...assetNumbers,
    ...templateLists,
  }
}

export type CheapestValues = Values<ReturnType<typeof cheapestParameters>>

const auctionFilter = {
  bidder: names('One of the given accounts has bid.'),
  participant: name(
    'Running auctions in which this account sells or has bid, and ended auctions that this account has sold or won and not claimed.',
  ),
  hide_empty_auctions: flag('true: only auctions with a bid.'),
}

/** Texts about the states of a kind of listing, for the documentation. */
export interface StateTexts {
  /** Numbers and meanings of the states, for example `1 listed, 4 invalid (the seller no longer has the assets)`. */
  readonly states: string
  /** A further sentence of the description, without its full stop. */
  readonly note?: string
}

/** Parameters of every list of listings. */
export function listingParameters(
  limit: number,
  key: ListingKey,
  { states, note }: StateTexts,
  /** Whether a listing has at most one asset. */
  isSingle = false,
) {
  const isAuction = key === 'auction_id'
  return {
    ...paging(limit),
    ...sorting([
      'created',
      'updated',
      ...(isAuction ? ['ending'] : []),
      key,
      'price',
      'template_mint',
      'name',
      'effective_mint',
    ]),
    ...counting,
    state: ids(
      `${states}. ${note === undefined ? '' : `${note}. `}Separate several values by commas.`,
      'comma',
      `must be one or more of ${states.replaceAll(/ \(.*?\)/g, '')}`,
    ),
    ...(isAuction ? auctionFilter : {}),
    ...listingFilter,
    ...(isSingle ? {} : assetNumbers),
    ...templateLists,
    ...idBoundaries(key),
    ...createdOrUpdated,
  }
}

export type ListingListValues = Values<ReturnType<typeof listingParameters>>

/** Values of the parameters of all lists of listings: of sales, auctions, buy offers and template buy offers. */
export type ListingValues = Partial<ListingListValues>

/** Parameter `symbol` of the price endpoints: any number of tokens. */
const priceSymbols = { symbol: texts('Token is one of the given values.') }

const homeFilter = {
  collection_name: names('Collection is one of the given values.'),
  schema_name: names('Schema is one of the given values.'),
}

/** Parameters that filter the trades of one asset. */
export const tradeParameters = {
  ...homeFilter,
  template_id: idsOrNull('Template is one of the given values; null matches assets without a template.'),
  asset_id: ids('Asset is one of the given values.'),
  burned: flag('true: burned assets; false: assets that are not burned.'),
  ...priceSymbols,
}

/** Parameters that filter the trades of one asset, with the earliest and the latest trade time. */
export const tradeDayParameters = {
  ...tradeParameters,
  before: int('Trades at or before this time, ms since 1970.', { minimum: 1 }),
  after: int('Trades at or after this time, ms since 1970.', { minimum: 1 }),
}

export type TradeValues = Values<typeof tradeDayParameters>

export function templatePriceParameters(limit: number) {
  return {
    ...paging(limit),
    ...homeFilter,
    template_id: ids('Template is one of the given values.'),
    ...priceSymbols,
  }
}

export type TemplatePriceValues = Values<ReturnType<typeof templatePriceParameters>>

/** Parameters of the trades of an asset. */
export const assetSaleParameters = {
  asset_id: inPath(id('Id of the asset.')),
  seller: names('Seller is one of the given values.'),
  buyer: names('Buyer is one of the given values.'),
  ...priceSymbols,
  ...sortOrder('desc'),
  limit: int('Maximum number of trades; values above 500 mean 500.', { default: 500, minimum: 1 }),
  bundles: flag('false: leave out trades of several assets at once.'),
}

export function payoutParameters(limit: number) {
  return {
    ...paging(limit),
    ...sorting(['created', 'amount']),
    ...counting,
    recipient: names('Recipient is one of the given values.'),
    collection_name: names('Collection is one of the given values.'),
    asset_id: ids('Asset is one of the given values.'),
    ...priceSymbols,
    listing_type: choice('Type of the listing.', listingTypes),
    listing_id: id('Id of the listing.'),
    category: choices('Rule by which the recipient gets the share is one of the given values.', categories),
    ...idBoundaries('log_global_sequence'),
  }
}

export type PayoutValues = Values<ReturnType<typeof payoutParameters>>

/** Parameters of the royalties that an account earned. */
export const royaltySumParameters = {
  ...ofAccount,
  collection_name: names('Collection is one of the given values.'),
  ...priceSymbols,
  ...tradeTimes,
}

/** Parameters of the royalty rules of a collection by template. */
export function templateRuleParameters(limit: number) {
  return { ...ofCollection, template_id: ids('Template is one of the given values.'), ...paging(limit) }
}

/** Parameters of the royalty rules of a collection by attribute. */
export function attributeRuleParameters(limit: number) {
  return {
    ...ofCollection,
    source: int(
      'Data in which the rule looks up the attribute: 0 all data merged, 1 immutable data of the asset, 2 mutable data of the asset, 3 immutable data of the template, 4 mutable data of the template.',
      { minimum: 0 },
    ),
    field: text('Name of the attribute.', { minimum: 1 }),
    ...paging(limit),
  }
}
