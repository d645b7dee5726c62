import type { PartKind } from '../../assets/index.ts'
import {
  COLLECTION_VERSION,
  jsonMembers,
  jsonText,
  packRows,
  quoted,
  TEMPLATE_VERSION,
} from '../../assets/index.ts'

/** Kinds of listing, as their parts are kept. */
export type ListingName = 'sales' | 'auctions' | 'buyoffers' | 'templateBuyoffers'

/** How listings of one kind are read. */
export interface ListingKind {
  readonly name: ListingName
  /** The clock is `$2` of the statements, ms since 1970; not of the part. */
  readonly isTimed: boolean
  /** Their own members, without what the clock decides, and what they name. Parts: members, assets, fee. */
  readonly part: PartKind
  /** Statement of what listings are shown with at `$1`, a list of ids: texts of a `ListingVersions` each. */
  readonly versions: { readonly name: string; readonly text: string }
  /** The same of a single id, with the texts of its part behind: one would be planned anew each time in a list. */
  readonly one: { readonly name: string; readonly text: string }
}

/** Texts; the template and its version are empty but for template buy offers. */
export type ListingVersions = readonly [
  id: string,
  version: string,
  collection: string,
  collectionVersion: string,
  template: string,
  templateVersion: string,
  /** Members that depend on more than rows: `,"state":1`, or none. */
  now: string,
]

/** Number of these texts. */
export const VERSION_TEXTS = 7

/** What makes up a kind of listing, as SQL; `l` is the row, `c` its collection, `y` its token. */
interface ListingSql {
  readonly name: ListingName
  readonly key: string
  readonly members: string
  /** Comma list of its assets. */
  readonly assets?: string
  /** FROM item, and a condition on its rows. */
  readonly from: string
  readonly condition?: string
  /** Versions of the rows that the members show, beside those of listing, collection and token. */
  readonly also?: readonly string[]
  /** Template and its version. */
  readonly template?: readonly [id: string, version: string]
  /** Members that the clock, `$2`, has a say in. */
  readonly now?: string
}

function listingKind(sql: ListingSql): ListingKind {
  const { name, key, members, from, also = [], template = ["''", "''"], now = "''" } = sql
  const { assets = `array_to_string(l.asset_ids, ',')` } = sql
  const where = (ids: string): string =>
    `FROM ${from} WHERE ${key} ${ids}${sql.condition === undefined ? '' : ` AND ${sql.condition}`}`
  const version = `concat(${['l.xmin', 'c.xmin', 'y.xmin', ...also].join(`, '/', `)})`
  const texts = [members, assets, `'"market_fee":' || l.collection_fee`]
  const versions = [key, version, 'l.collection_name', COLLECTION_VERSION, ...template, now]
  const list = '= ANY($1::bigint[])'
  return {
    name,
    isTimed: sql.now !== undefined,
    part: { name, key, version, texts, from: where(list) },
    versions: { name: `${name}-versions`, text: `SELECT ${packRows(versions)} ${where(list)}` },
    one: {
      name: `${name}-one`,
      text: `SELECT ${packRows([...versions, ...texts])} ${where('= $1::bigint')}`,
    },
  }
}

const hasCode = (account: string): string =>
  `(EXISTS (SELECT FROM chain.code_accounts h WHERE h.account = ${account}))::text`

/** Members that every listing has; `l` is the row, `c` its collection. */
const common = {
  seller: quoted('l.seller'),
  buyer: quoted('l.buyer'),
  maker_marketplace: quoted('l.maker_marketplace'),
  taker_marketplace: quoted('l.taker_marketplace'),
  current_collection_fee: 'c.market_fee',
  updated_at_block: quoted('l.updated_at_block'),
  updated_at_time: quoted('l.updated_at_time'),
  created_at_block: quoted('l.created_at_block'),
  created_at_time: quoted('l.created_at_time'),
}

/** The price of everything but sales; `y` is its token. */
const price = `'{"token_contract":"' || y.token_contract || '","token_symbol":"' || y.token_symbol || '","token_precision":'
    || y.token_precision || ',"amount":"' || l.price || '"}'`

const SALE_PRICE = `(SELECT concat('{"token_contract":"', y.token_contract, '","token_symbol":"', y.token_symbol,
    '","token_precision":', y.token_precision, ',"median":', coalesce(r.median::text, 'null'), ',"amount":',
    ${quoted('coalesce(l.price, market.settlement_price(l.listing_price, r.factor, r.divisor))')}, '}')
  FROM (SELECT) o LEFT JOIN market.rates r
    ON r.listing_symbol = l.listing_symbol AND r.settlement_symbol = l.settlement_symbol)`

const BIDS = `coalesce((SELECT string_agg(concat('{"number":', b.number, ',"account":"', b.account, '","amount":"', b.amount,
      '","created_at_block":"', x.block_num, '","created_at_time":"', x.block_time, '","txid":"', encode(x.txid, 'hex'), '"}'),
      ',' ORDER BY b.number)
    FROM (SELECT k.seq, k.account, k.amount, row_number() OVER (ORDER BY k.seq) AS number
      FROM market.bids k WHERE k.auction_id = l.auction_id) b LEFT JOIN LATERAL market.origin_of(b.seq) x ON true), '')`

const AUCTION_STATE = `market.auction_state(l.state, l.end_time, l.buyer, l.asset_count,
    l.claimed_by_buyer OR l.claimed_by_seller, $2::bigint, (SELECT g.v2_since_block IS NOT NULL FROM market.config g))`

const withCollection = 'JOIN assets.collections c ON c.collection_name = l.collection_name'

/** Sales; one that still waits for its offer is not there yet. */
export const sales = listingKind({
  name: 'sales',
  key: 'l.sale_id',
  members: jsonMembers({
    sale_id: quoted('l.sale_id'),
    ...common,
    offer_id: quoted('l.offer_id'),
    price: SALE_PRICE,
    listing_price: quoted('l.listing_price'),
    listing_symbol: quoted('l.listing_symbol'),
    collection_name: quoted('l.collection_name'),
    is_seller_contract: hasCode('l.seller'),
    state: 'l.state',
  }),
  from: `market.sales l ${withCollection} JOIN market.tokens y ON y.token_symbol = l.settlement_symbol
    LEFT JOIN (market.symbol_pairs s JOIN oracle.pairs p USING (pair_name))
      ON s.listing_symbol = l.listing_symbol AND s.settlement_symbol = l.settlement_symbol`,
  condition: 'l.offer_id IS NOT NULL',
  also: ['s.xmin', 'p.xmin', hasCode('l.seller')],
})

/** Auctions; `$2` is the time, ms since 1970. */
export const auctions = listingKind({
  name: 'auctions',
  key: 'l.auction_id',
  members: jsonMembers({
    auction_id: quoted('l.auction_id'),
    ...common,
    price,
    claimed_by_buyer: 'l.claimed_by_buyer::text',
    claimed_by_seller: 'l.claimed_by_seller::text',
    end_time: quoted('l.end_time * 1000'),
    is_seller_contract: hasCode('l.seller'),
    bids: `'[' || ${BIDS} || ']'`,
  }),
  from: `market.auctions l ${withCollection} JOIN market.tokens y USING (token_symbol)`,
  also: [
    hasCode('l.seller'),
    `(SELECT string_agg(k.xmin::text, ',' ORDER BY k.seq) FROM market.bids k WHERE k.auction_id = l.auction_id)`,
  ],
  now: `',"state":' || ${AUCTION_STATE}`,
})

/** Buy offers. */
export const buyoffers = listingKind({
  name: 'buyoffers',
  key: 'l.buyoffer_id',
  members: jsonMembers({
    buyoffer_id: quoted('l.buyoffer_id'),
    ...common,
    price,
    memo: jsonText('l.memo'),
    decline_memo: jsonText('l.decline_memo'),
    state: 'l.state',
  }),
  from: `market.buyoffers l ${withCollection} JOIN market.tokens y USING (token_symbol)`,
})

/** Buy offers for any asset of a template. */
export const templateBuyoffers = listingKind({
  name: 'templateBuyoffers',
  key: 'l.buyoffer_id',
  members: jsonMembers({ buyoffer_id: quoted('l.buyoffer_id'), ...common, price, state: 'l.state' }),
  assets: 'l.asset_id',
  from: `market.template_buyoffers l ${withCollection} JOIN market.tokens y USING (token_symbol)
    JOIN assets.templates t ON t.template_id = l.template_id`,
  template: ['t.template_id', TEMPLATE_VERSION],
})
