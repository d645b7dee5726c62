import type { Members, RecordSchema } from '../../../endpoint/index.ts'
import { shape } from '../../../endpoint/index.ts'
import {
  assetRecord,
  containedAssets,
  lightCollection,
  lightTemplate,
} from '../../nft/record-schemas/index.ts'

/** Which token an amount is of. */
export const tokenMembers: Members = {
  token_symbol: shape.text('Symbol code'),
  token_precision: shape.integer('Decimal places'),
  token_contract: shape.text('Account of the token contract'),
}

const ofMarket = (id: string): RecordSchema =>
  shape.object({
    market_contract: shape.text('Account of the market contract'),
    [id]: shape.decimal('Its id'),
  })

/** Price statistics of the template of an asset in one token. */
const assetPrice = shape.record('AssetPrice', 'Trades of single assets of a template, in one token', {
  market_contract: shape.text('Account of the market contract'),
  token: shape.object(tokenMembers),
  median: shape.decimal('Lower middle price'),
  average: shape.decimal('Average price, rounded'),
  suggested_median: shape.decimal('Lower middle price of the latest trades, see TemplatePrice'),
  suggested_average: shape.decimal('Average price of the latest trades, see TemplatePrice'),
  min: shape.decimal('Lowest price'),
  max: shape.decimal('Highest price'),
  sales: shape.decimal('Trades'),
})

/** An asset as the market shows it. */
export const listingAsset = shape.extend(
  assetRecord,
  'ListingAsset',
  'An asset and what the market says of it',
  {
    sales: shape.list(ofMarket('sale_id'), 'Listed sales that contain it; always empty inside a listing'),
    auctions: shape.list(
      ofMarket('auction_id'),
      'Running auctions that contain it; always empty inside a listing',
    ),
    'prices?': shape.list(assetPrice, 'Prices of its template, by token; absent without a template'),
    'template_buyoffers?': shape.list(
      shape.object({
        market_contract: shape.text('Account of the market contract'),
        buyoffer_id: shape.decimal('Its id'),
        token_symbol: shape.text('Token that it pays'),
      }),
      'The highest open offer for its template in each token; always empty inside a listing, absent without a template',
    ),
  },
)

const times: Members = {
  updated_at_block: shape.ofHistory(shape.decimal('Block of the last change')),
  updated_at_time: shape.ofHistory(shape.time('Time of the last change')),
  created_at_block: shape.ofHistory(shape.decimal('Block of creation')),
  created_at_time: shape.ofHistory(shape.time('Time of creation')),
}

const contracts: Members = {
  market_contract: shape.text('Account of the market contract'),
  assets_contract: shape.text('Account of the assets contract'),
}

const price = shape.object({
  ...tokenMembers,
  amount: shape.decimal('Amount in units of the smallest decimal place'),
})

const common: Members = {
  assets: containedAssets(listingAsset, 'Assets in the order of the listing, in their present state'),
  maker_marketplace: shape.text('Marketplace that it was listed on; empty = the default one'),
  taker_marketplace: shape.nullable(shape.text('Marketplace that it was bought on; empty = the default one')),
  collection: lightCollection,
  current_collection_fee: shape.number(
    'Present fee of the collection; collection.market_fee is that of the time of listing',
  ),
  ...times,
}

const isSellerContract: Members = { is_seller_contract: shape.flag('The seller has ever had code') }

const stateOf = (description: string, states: readonly number[]): RecordSchema => ({
  type: 'integer',
  enum: states,
  description,
})

/** A sale by its id. */
export const saleRecord = shape.record('Sale', 'Assets for sale at a fixed price', {
  ...contracts,
  sale_id: shape.decimal('Sale'),
  seller: shape.text('Account that sells'),
  buyer: shape.nullable(shape.text('Account that bought; null until sold')),
  offer_id: shape.decimal('Trade offer that carries the assets'),
  price: shape.object(
    {
      ...tokenMembers,
      median: shape.nullable(shape.number('Present median of the oracle, when the price follows it')),
      amount: shape.nullable(shape.decimal('Price, or the paid amount; null while the oracle has no value')),
    },
    'In the token that is paid with',
  ),
  listing_price: shape.decimal('Price set by the seller, in the smallest unit of listing_symbol'),
  listing_symbol: shape.text('Token or currency of listing_price'),
  collection_name: shape.text('Collection'),
  ...isSellerContract,
  ...common,
  state: stateOf(
    '1 listed, 2 cancelled, 3 sold, 4 invalid (the seller no longer has the assets)',
    [1, 2, 3, 4],
  ),
})

/** A sale in a list. */
export const listedSaleRecord = shape.extend(saleRecord, 'ListedSale', 'A sale in a list', {
  ordinality: shape.decimal('Place in this answer, from 1'),
})

const bid = shape.record('Bid', 'A bid of an auction', {
  number: shape.integer('Place in the auction, from 1'),
  account: shape.text('Bidder'),
  amount: shape.decimal('Amount in units of the smallest decimal place'),
  created_at_block: shape.decimal('Block'),
  created_at_time: shape.time('Time of the block'),
  txid: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Transaction' },
})

/** An auction. */
export const auctionRecord = shape.record('Auction', 'Assets that go to the highest bidder', {
  ...contracts,
  auction_id: shape.decimal('Auction'),
  seller: shape.text('Account that sells'),
  buyer: shape.nullable(shape.text('Highest bidder')),
  price,
  bids: shape.list(bid, 'Bids, the first first'),
  claimed_by_buyer: shape.flag('The winner has taken the assets'),
  claimed_by_seller: shape.flag('The seller has taken the money'),
  end_time: shape.time('End; a late bid moves it'),
  ...isSellerContract,
  ...common,
  state: stateOf(
    '0 waiting for the assets, 1 running, 2 cancelled, 3 sold, 4 ended without a bid',
    [0, 1, 2, 3, 4],
  ),
})

/** A buy offer. */
export const buyofferRecord = shape.record('Buyoffer', 'An offer to buy assets from their owner', {
  ...contracts,
  buyoffer_id: shape.decimal('Buy offer'),
  seller: shape.text('Account that the offer is made to'),
  buyer: shape.text('Account that would buy'),
  price,
  memo: shape.text('Memo'),
  decline_memo: shape.nullable(shape.text('Memo of the recipient; null unless declined')),
  ...common,
  state: stateOf(
    '0 pending, 1 declined, 2 cancelled, 3 accepted, 4 invalid (the recipient does not own an asset)',
    [0, 1, 2, 3, 4],
  ),
})

/** A template buy offer. */
export const templateBuyofferRecord = shape.record(
  'TemplateBuyoffer',
  'An offer to buy any asset of a template',
  {
    ...contracts,
    buyoffer_id: shape.decimal('Template buy offer; its ids are not those of buy offers'),
    seller: shape.nullable(shape.text('Account that delivered; null until then')),
    buyer: shape.text('Account that would buy'),
    price,
    template: lightTemplate,
    ...common,
    state: stateOf('0 listed, 1 cancelled, 2 sold', [0, 1, 2]),
  },
)
