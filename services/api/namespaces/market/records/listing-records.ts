import { bind, raw, sql } from '../../../sql/index.ts'
import { shape } from '../../../endpoint/index.ts'
import { declareKind } from '../../../records/index.ts'
import type { RowParts } from '../../../records/index.ts'
import { field } from '../../../records/fields/index.ts'
import type { Field, Group, RecordMembers } from '../../../records/fields/index.ts'
import {
  assetList,
  collectionObject,
  collectionRow,
  containedAssets,
  lightCollection,
  templateMember,
  templateRow,
} from '../../nft/records/index.ts'
import { listedAssets } from './asset-members.ts'
import { tokenFields } from './token-fields.ts'

const contracts = {
  market_contract: field.contract('market_contract', 'Account of the market contract'),
  assets_contract: field.contract('contract', 'Account of the assets contract'),
}

/** The current fee of the collection, from its fragment. */
const presentFee: Group<RowParts> = {
  members: {
    current_collection_fee: shape.number(
      'Current fee of the collection; collection.market_fee is the fee at the time of the listing',
    ),
  },
  isText: true,
  write: ({ shared }) => `"current_collection_fee":${shared[0]!.texts[1]!}`,
}

/** Members that follow seller and buyer in every listing. The name of a marketplace may be empty, never null. */
const common = {
  maker_marketplace: field.emptyName(
    'l.maker_marketplace',
    'Marketplace of the listing; empty = the default marketplace',
  ),
  taker_marketplace: field.nullable(
    field.emptyName('l.taker_marketplace', 'Marketplace of the purchase; empty = the default marketplace'),
  ),
  current_collection_fee: presentFee,
  updated_at_block: field.ofHistory(field.decimal('l.updated_at_block', 'Block of the last change')),
  updated_at_time: field.ofHistory(field.time('l.updated_at_time', 'Time of the last change')),
  created_at_block: field.ofHistory(field.decimal('l.created_at_block', 'Block of creation')),
  created_at_time: field.ofHistory(field.time('l.created_at_time', 'Time of creation')),
} satisfies RecordMembers<RowParts>

/** Member `collection` of a listing: the current collection, but with the fee at the time of the listing. */
const collectionThen: Group<RowParts> = {
  members: { collection: lightCollection },
  columns: ['l.collection_fee'],
  write: ({ shared }, fee) => ['"collection":', collectionObject(shared[0]!, fee)],
}

/**
 * The last members of every listing.
 * @param ids SQL of the array of its asset ids.
 */
function contents(ids: string): RecordMembers<RowParts> {
  return {
    assets: assetList(listedAssets, {
      ...{ name: 'assets', ids },
      description: 'Assets in the order of the listing, with their current data',
    }),
    collection: collectionThen,
  }
}

const AMOUNT = 'Amount in units of the smallest decimal place'

/** Members of the price's token, in the order of the replaced system. */
const token = {
  token_contract: tokenFields.token_contract,
  token_symbol: tokenFields.token_symbol,
  token_precision: tokenFields.token_precision,
}

/** Member `price` of auctions, buy offers and template buy offers. */
const price = field.object({ ...token, amount: field.decimal('l.price', AMOUNT) })

/** Joins the oracle rate of a sale as `o`. A sale that is listed in the token of its payment needs no rate. */
const ORACLE_RATE = `LEFT JOIN market.rates o ON o.listing_symbol = l.listing_symbol
    AND o.settlement_symbol = l.settlement_symbol AND (l.price IS NULL OR l.listing_symbol <> l.settlement_symbol)`

const salePrice = field.object(
  {
    ...token,
    median: field.nullable(
      field.number('o.median', 'Current median of the oracle, if the price follows the oracle'),
    ),
    amount: field.nullable(
      field.decimal(
        'coalesce(l.price, market.settlement_price(l.listing_price, o.factor, o.divisor))',
        'Price, or the paid amount; null while the oracle has no value',
      ),
    ),
  },
  'Price in the token of the payment',
)

const bid = shape.record('Bid', 'A bid of an auction', {
  number: shape.integer('Number of the bid in its auction, from 1'),
  account: shape.text('Bidder'),
  amount: shape.decimal(AMOUNT),
  created_at_block: shape.decimal('Block'),
  created_at_time: shape.time('Time of the block'),
  txid: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Transaction' },
})

const BIDS = `(SELECT concat('[', string_agg(concat('{"number":', b.number, ',"account":"', b.account, '","amount":"', b.amount,
      '","created_at_block":"', x.block_num, '","created_at_time":"', x.block_time, '","txid":"', encode(x.txid, 'hex'), '"}'),
      ',' ORDER BY b.number), ']')
    FROM (SELECT k.seq, k.account, k.amount, row_number() OVER (ORDER BY k.seq) AS number
      FROM market.bids k WHERE k.auction_id = l.auction_id) b LEFT JOIN LATERAL market.origin_of(b.seq) x ON true)`

const isSellerContract = field.flag(
  `EXISTS (SELECT FROM chain.code_accounts h WHERE h.account = l.seller)`,
  'The seller has or once had contract code',
)

function stateField(value: string, description: string, states: readonly number[]): Field {
  return field.json(value, { type: 'integer', enum: states, description })
}

const listing = { alias: 'l', keyType: 'bigint' }
const BY_TOKEN_SYMBOL = 'JOIN market.tokens y ON y.token_symbol = l.token_symbol'

const saleMembers: RecordMembers<RowParts> = {
  ...contracts,
  sale_id: field.decimal('l.sale_id', 'Sale'),
  seller: field.name('l.seller', 'Account that sells'),
  buyer: field.nullable(field.name('l.buyer', 'Account that bought; null until sold')),
  ...common,
  offer_id: field.decimal('l.offer_id', 'Trade offer that contains the assets'),
  price: salePrice,
  listing_price: field.decimal(
    'l.listing_price',
    'Price set by the seller, in the smallest unit of listing_symbol',
  ),
  listing_symbol: field.name('l.listing_symbol', 'Token or currency of listing_price'),
  collection_name: field.name('l.collection_name', 'Collection'),
  is_seller_contract: isSellerContract,
  state: stateField(
    'l.state',
    '1 listed, 2 cancelled, 3 sold, 4 invalid (the seller no longer has the assets)',
    [1, 2, 3, 4],
  ),
  ...contents('l.asset_ids'),
}

/** Declaration that all record types of sales share. A sale that waits for its offer has no record. */
const saleKind = {
  ...listing,
  key: 'l.sale_id',
  // A sale without an offer is not shown.
  from: `market.sales l JOIN market.tokens y ON y.token_symbol = l.settlement_symbol AND l.offer_id IS NOT NULL ${ORACLE_RATE}`,
  further: ['l.asset_ids'],
  shared: [collectionRow],
  contained: containedAssets(listedAssets, 'l.asset_ids', ['collection']),
}

/** Record type of a single sale. */
const sales = declareKind({
  ...saleKind,
  title: 'Sale',
  description: 'Assets for sale at a fixed price',
  members: saleMembers,
})

/** Record type of sales in lists. */
const listedSales = declareKind({
  ...saleKind,
  title: 'ListedSale',
  description: 'A sale in a list',
  members: {
    ...saleMembers,
    ordinality: {
      members: { ordinality: shape.decimal('Position of the sale in the answer, from 1') },
      isText: true,
      write: ({ place }) => `"ordinality":"${place}"`,
    },
  },
})

/** Record type of auctions. The clock decides whether an auction has ended. */
const auctions = declareKind({
  ...listing,
  ...{ title: 'Auction', description: 'Assets that go to the highest bidder', key: 'l.auction_id' },
  from: (clock) =>
    sql`${raw(`market.auctions l ${BY_TOKEN_SYMBOL} CROSS JOIN LATERAL (
    SELECT market.auction_state(l.state, l.end_time, l.buyer, l.asset_count,
      l.claimed_by_buyer OR l.claimed_by_seller, `)}${bind(clock(), 'bigint')}${raw(`,
      (SELECT g.v2_since_block IS NOT NULL FROM market.config g)) AS now) z`)}`,
  further: ['l.asset_ids'],
  members: {
    ...contracts,
    auction_id: field.decimal('l.auction_id', 'Auction'),
    seller: field.name('l.seller', 'Account that sells'),
    buyer: field.nullable(field.name('l.buyer', 'Highest bidder')),
    ...common,
    price,
    claimed_by_buyer: field.flag('l.claimed_by_buyer', 'The winner has taken the assets'),
    claimed_by_seller: field.flag('l.claimed_by_seller', 'The seller has taken the money'),
    end_time: field.time('l.end_time * 1000', 'End of the auction; a late bid moves the end'),
    is_seller_contract: isSellerContract,
    bids: field.list(BIDS, bid, 'Bids in the order of time'),
    state: stateField(
      'z.now',
      '0 waiting for the assets, 1 running, 2 cancelled, 3 sold, 4 ended without a bid',
      [0, 1, 2, 3, 4],
    ),
    ...contents('l.asset_ids'),
  },
  shared: [collectionRow],
  contained: containedAssets(listedAssets, 'l.asset_ids', ['collection']),
})

/** Record type of buy offers. */
const buyoffers = declareKind({
  ...listing,
  ...{ title: 'Buyoffer', description: 'An offer to buy assets from their owner', key: 'l.buyoffer_id' },
  from: `market.buyoffers l ${BY_TOKEN_SYMBOL}`,
  further: ['l.asset_ids'],
  members: {
    ...contracts,
    buyoffer_id: field.decimal('l.buyoffer_id', 'Buy offer'),
    seller: field.name('l.seller', 'Account to which the offer is made'),
    buyer: field.name('l.buyer', 'Account that made the offer'),
    ...common,
    price,
    memo: field.text('l.memo', 'Memo'),
    decline_memo: field.nullable(
      field.text('l.decline_memo', 'Memo of the recipient; null if the offer was not declined'),
    ),
    state: stateField(
      'l.state',
      '0 pending, 1 declined, 2 cancelled, 3 accepted, 4 invalid (the recipient does not own an asset)',
      [0, 1, 2, 3, 4],
    ),
    ...contents('l.asset_ids'),
  },
  shared: [collectionRow],
  contained: containedAssets(listedAssets, 'l.asset_ids', ['collection']),
})

const DELIVERED = 'array_remove(ARRAY[l.asset_id], NULL)'

/** Record type of buy offers for any asset of a template. */
const templateBuyoffers = declareKind({
  ...listing,
  ...{
    title: 'TemplateBuyoffer',
    description: 'An offer to buy any asset of a template',
    key: 'l.buyoffer_id',
  },
  from: `market.template_buyoffers l ${BY_TOKEN_SYMBOL}`,
  further: [`${DELIVERED} AS asset_ids`],
  members: {
    ...contracts,
    buyoffer_id: field.decimal(
      'l.buyoffer_id',
      'Id of the template buy offer; a buy offer may have the same id',
    ),
    seller: field.nullable(field.name('l.seller', 'Account that sold the asset; null until the sale')),
    buyer: field.name('l.buyer', 'Account that made the offer'),
    ...common,
    price,
    state: stateField('l.state', '0 listed, 1 cancelled, 2 sold', [0, 1, 2]),
    ...contents(DELIVERED),
    template: templateMember(1),
  },
  shared: [collectionRow, templateRow],
  contained: containedAssets(listedAssets, 'l.asset_ids', ['collection', 'template']),
})

/** Record types of all kinds of listing. `listedSale`: sales as lists show them. */
export const listingRecords = {
  sale: sales,
  listedSale: listedSales,
  auction: auctions,
  buyoffer: buyoffers,
  template_buyoffer: templateBuyoffers,
}
