import type { Sql } from '../../../sql/index.ts'
import { bind, raw, sql } from '../../../sql/index.ts'
import { jsonText, quoted } from '../../../json/index.ts'

/** A member of a listing. */
export interface ListingField {
  readonly name: string
  /** SQL of its value; `l` is the listing, `y` its token. */
  readonly value: string
  /** A name or a number that becomes a string, null when it is null; without it, the value is JSON. */
  readonly isQuoted?: boolean
}

/** How listings of one kind are read; `l` is the row. */
export interface ListingKind {
  /** Key column. */
  readonly key: string
  readonly table: string
  /** Joins of the listing. */
  readonly joins: string
  readonly condition?: string
  /** Members in the order that clients know; the first is the key. */
  readonly fields: readonly ListingField[]
  /** SQL of an array of its assets. */
  readonly assetIds: string
  /** Is shown with its template. */
  readonly hasTemplate?: boolean
  /** SQL of the state where the clock decides it. @param now milliseconds since 1970. */
  readonly stateAt?: (now: number) => Sql
}

/** In place of a value: the fee of the collection at present, which is a fragment's. */
export const PRESENT_FEE = 'present fee'

/** Marketplaces may be the empty name, which is not null. */
function nameFields(names: readonly string[]): ListingField[] {
  return names.map((name) => ({ name, value: quoted(`l.${name}`) }))
}

function quotedFields(names: readonly string[]): ListingField[] {
  return names.map((name) => ({ name, value: `l.${name}`, isQuoted: true }))
}

/** Blocks and times; those from before the reader's history are 0 in the database. */
function dateFields(names: readonly string[]): ListingField[] {
  return names.map((name) => ({ name, value: quoted(`nullif(l.${name}, 0)`) }))
}

const hasCode = (account: string): string =>
  `(EXISTS (SELECT FROM chain.code_accounts h WHERE h.account = ${account}))::text`

/** Members that every listing has behind its key. */
const common: readonly ListingField[] = [
  ...nameFields(['seller', 'buyer', 'maker_marketplace', 'taker_marketplace']),
  { name: 'current_collection_fee', value: PRESENT_FEE },
  ...dateFields(['updated_at_block', 'updated_at_time', 'created_at_block', 'created_at_time']),
]

/** The price of everything but sales. */
const price: ListingField = {
  name: 'price',
  value: `concat('{"token_contract":"', y.token_contract, '","token_symbol":"', y.token_symbol, '","token_precision":',
    y.token_precision, ',"amount":"', l.price, '"}')`,
}

/** A sale that is listed in the token of its payment needs no oracle. */
const salePrice: ListingField = {
  name: 'price',
  value: `concat('{"token_contract":"', y.token_contract, '","token_symbol":"', y.token_symbol, '","token_precision":',
    y.token_precision, ',"median":', CASE WHEN l.price IS NOT NULL AND l.listing_symbol = l.settlement_symbol
      THEN concat('null,"amount":"', l.price, '"')
      ELSE (SELECT concat(coalesce(r.median::text, 'null'), ',"amount":',
          ${quoted('coalesce(l.price, market.settlement_price(l.listing_price, r.factor, r.divisor))')})
        FROM (SELECT) o LEFT JOIN market.rates r
          ON r.listing_symbol = l.listing_symbol AND r.settlement_symbol = l.settlement_symbol)
    END, '}')`,
}

const BIDS = `coalesce((SELECT string_agg(concat('{"number":', b.number, ',"account":"', b.account, '","amount":"', b.amount,
      '","created_at_block":"', x.block_num, '","created_at_time":"', x.block_time, '","txid":"', encode(x.txid, 'hex'), '"}'),
      ',' ORDER BY b.number)
    FROM (SELECT k.seq, k.account, k.amount, row_number() OVER (ORDER BY k.seq) AS number
      FROM market.bids k WHERE k.auction_id = l.auction_id) b LEFT JOIN LATERAL market.origin_of(b.seq) x ON true), '')`

const isSellerContract: ListingField = { name: 'is_seller_contract', value: hasCode('l.seller') }
const state: ListingField = { name: 'state', value: 'l.state' }
const BY_TOKEN_SYMBOL = 'JOIN market.tokens y ON y.token_symbol = l.token_symbol'

/** Sales; one that still waits for its offer is not there yet. */
export const sales: ListingKind = {
  key: 'sale_id',
  table: 'market.sales',
  joins: 'JOIN market.tokens y ON y.token_symbol = l.settlement_symbol',
  condition: 'l.offer_id IS NOT NULL',
  fields: [
    ...quotedFields(['sale_id']),
    ...common,
    ...quotedFields(['offer_id']),
    salePrice,
    ...quotedFields(['listing_price', 'listing_symbol', 'collection_name']),
    isSellerContract,
    state,
  ],
  assetIds: 'l.asset_ids',
}

/** Auctions: the clock decides whether one has finished. */
export const auctions: ListingKind = {
  key: 'auction_id',
  table: 'market.auctions',
  joins: BY_TOKEN_SYMBOL,
  fields: [
    ...quotedFields(['auction_id']),
    ...common,
    price,
    { name: 'claimed_by_buyer', value: 'l.claimed_by_buyer::text' },
    { name: 'claimed_by_seller', value: 'l.claimed_by_seller::text' },
    { name: 'end_time', value: 'l.end_time * 1000', isQuoted: true },
    isSellerContract,
    { name: 'bids', value: `concat('[', ${BIDS}, ']')` },
  ],
  assetIds: 'l.asset_ids',
  stateAt: (now) =>
    sql`${raw(`market.auction_state(l.state, l.end_time, l.buyer, l.asset_count,
      l.claimed_by_buyer OR l.claimed_by_seller, `)}${bind(now, 'bigint')}${raw(`,
      (SELECT g.v2_since_block IS NOT NULL FROM market.config g))`)}`,
}

/** Buy offers. */
export const buyoffers: ListingKind = {
  key: 'buyoffer_id',
  table: 'market.buyoffers',
  joins: BY_TOKEN_SYMBOL,
  fields: [
    ...quotedFields(['buyoffer_id']),
    ...common,
    price,
    { name: 'memo', value: jsonText('l.memo') },
    { name: 'decline_memo', value: jsonText('l.decline_memo') },
    state,
  ],
  assetIds: 'l.asset_ids',
}

/** Buy offers for any asset of a template. */
export const templateBuyoffers: ListingKind = {
  key: 'buyoffer_id',
  table: 'market.template_buyoffers',
  joins: BY_TOKEN_SYMBOL,
  fields: [...quotedFields(['buyoffer_id']), ...common, price, state],
  assetIds: 'array_remove(ARRAY[l.asset_id], NULL)',
  hasTemplate: true,
}
