import { listingFacts } from '../derived/index.ts'
import type { VerifiedTable } from './table.ts'
import {
  big,
  bigList,
  byNumber,
  flag,
  float,
  freeText,
  freeTextColumn,
  id,
  ids,
  int,
  plain,
  price,
  symbolAs,
  text,
  unknownHistory,
} from './values.ts'

const shown = [
  'min_mint',
  'max_mint',
  'template_ids',
  'schema_names',
  'traits',
  'name',
  'template_id',
  'schema_name',
  'asset_names',
]

/** Writes what a listing says of its assets, and other assignments. */
const completeListing = (table: string, id: string, more: readonly string[]) => `
  UPDATE ${table} t SET asset_count = cardinality(t.asset_ids), ${more.map((one) => `${one}, `).join('')}
    (${shown.join(', ')}) = (SELECT ${shown.map((name) => `f.${name}`).join(', ')} FROM ${table} l CROSS JOIN LATERAL (${listingFacts}) f WHERE l.${id} = t.${id})`

const created = unknownHistory(['created', 'updated'])

/** Sales, auctions and offers to buy. What the chain does not have of one that a repair adds is null or unknown. */
export const listingTables: readonly VerifiedTable[] = [
  {
    name: 'market.sales',
    family: 'market',
    contractTable: 'sales',
    key: [{ name: 'sale_id', type: 'bigint' }],
    from: 'market.sales t',
    where: 't.state IN (0, 1, 4)',
    collection: 'collection_name',
    columns: [
      plain('seller', 'text'),
      bigList('asset_ids'),
      { name: 'offer_id', sql: 'coalesce(t.offer_id, -1)::text', type: 'bigint', write: 'nullif($, -1)' },
      big('listing_price'),
      plain('listing_symbol', 'text'),
      plain('listing_precision', 'smallint'),
      plain('settlement_symbol', 'text'),
      plain('settlement_precision', 'smallint'),
      plain('maker_marketplace', 'text'),
      plain('collection_name', 'text'),
      plain('collection_fee', 'double precision'),
    ],
    expect: ({ data }) => ({
      key: [id(data.sale_id)],
      values: {
        seller: text(data.seller),
        asset_ids: ids(data.asset_ids),
        offer_id: id(data.offer_id),
        ...price(data.listing_price, {
          amount: 'listing_price',
          symbol: 'listing_symbol',
          precision: 'listing_precision',
        }),
        ...symbolAs(data.settlement_symbol, 'settlement_symbol', 'settlement_precision'),
        maker_marketplace: text(data.maker_marketplace),
        collection_name: text(data.collection_name),
        collection_fee: float(data.collection_fee),
      },
    }),
    locate: byNumber,
    insert: { ...created, state: 'sql:0', asset_count: 'sql:0' },
    reopen: ['buyer = NULL', 'taker_marketplace = NULL', 'intended_median = NULL'],
    complete: completeListing('market.sales', 'sale_id', [
      'price = CASE WHEN t.listing_symbol = t.settlement_symbol THEN t.listing_price END',
      `state = CASE WHEN t.offer_id IS NULL THEN 0
        WHEN EXISTS (SELECT 1 FROM assets.offers o WHERE o.offer_id = t.offer_id AND o.state = 0) THEN 1 ELSE 4 END`,
    ]),
  },
  {
    name: 'market.auctions',
    family: 'market',
    contractTable: 'auctions',
    key: [{ name: 'auction_id', type: 'bigint' }],
    from: 'market.auctions t',
    where: 't.state < 2 AND NOT (t.claimed_by_buyer AND t.claimed_by_seller)',
    collection: 'collection_name',
    columns: [
      plain('seller', 'text'),
      bigList('asset_ids'),
      plain('end_time', 'bigint'),
      {
        name: 'assets_transferred',
        sql: 't.state = 1',
        type: 'boolean',
        into: 'state',
        write: '$::integer',
      },
      big('price'),
      plain('token_symbol', 'text'),
      { name: 'buyer', sql: "coalesce(t.buyer, '')", type: 'text', write: "nullif($, '')" },
      plain('claimed_by_seller', 'boolean'),
      plain('claimed_by_buyer', 'boolean'),
      plain('maker_marketplace', 'text'),
      { name: 'taker_marketplace', sql: "coalesce(t.taker_marketplace, '')", type: 'text' },
      plain('collection_name', 'text'),
      plain('collection_fee', 'double precision'),
    ],
    expect: ({ data }) => ({
      key: [id(data.auction_id)],
      values: {
        seller: text(data.seller),
        asset_ids: ids(data.asset_ids),
        end_time: int(data.end_time),
        assets_transferred: flag(data.assets_transferred),
        ...price(data.current_bid, { amount: 'price', symbol: 'token_symbol' }),
        buyer: text(data.current_bidder),
        claimed_by_seller: flag(data.claimed_by_seller),
        claimed_by_buyer: flag(data.claimed_by_buyer),
        maker_marketplace: text(data.maker_marketplace),
        taker_marketplace: text(data.taker_marketplace),
        collection_name: text(data.collection_name),
        collection_fee: float(data.collection_fee),
      },
    }),
    locate: byNumber,
    insert: { ...created, asset_count: 'sql:0' },
    reopen: [],
    complete: completeListing('market.auctions', 'auction_id', [
      'taker_marketplace = CASE WHEN t.buyer IS NOT NULL THEN t.taker_marketplace END',
      'starting_price = CASE WHEN t.buyer IS NULL THEN t.price ELSE t.starting_price END',
    ]),
  },
  {
    name: 'market.buyoffers',
    family: 'market',
    contractTable: 'buyoffers',
    key: [{ name: 'buyoffer_id', type: 'bigint' }],
    from: 'market.buyoffers t',
    where: 't.state IN (0, 4)',
    collection: 'collection_name',
    columns: [
      plain('buyer', 'text'),
      plain('seller', 'text'),
      big('price'),
      plain('token_symbol', 'text'),
      bigList('asset_ids'),
      freeTextColumn('memo'),
      plain('maker_marketplace', 'text'),
      plain('collection_name', 'text'),
      plain('collection_fee', 'double precision'),
    ],
    expect: ({ data }) => ({
      key: [id(data.buyoffer_id)],
      values: {
        buyer: text(data.buyer),
        seller: text(data.recipient),
        ...price(data.price, { amount: 'price', symbol: 'token_symbol' }),
        asset_ids: ids(data.asset_ids),
        memo: freeText(data.memo),
        maker_marketplace: text(data.maker_marketplace),
        collection_name: text(data.collection_name),
        collection_fee: float(data.collection_fee),
      },
    }),
    locate: byNumber,
    insert: { ...created, state: 'sql:0', asset_count: 'sql:0' },
    reopen: ['taker_marketplace = NULL', 'decline_memo = NULL'],
    complete: completeListing('market.buyoffers', 'buyoffer_id', [
      `state = CASE WHEN EXISTS (SELECT 1 FROM unnest(t.asset_ids) g(id) LEFT JOIN assets.assets a ON a.asset_id = g.id
        WHERE a.owner IS DISTINCT FROM t.seller) THEN 4 ELSE 0 END`,
    ]),
  },
  {
    name: 'market.template_buyoffers',
    family: 'market',
    contractTable: 'tbuyoffers',
    key: [{ name: 'buyoffer_id', type: 'bigint' }],
    from: 'market.template_buyoffers t',
    where: 't.state = 0',
    collection: 'collection_name',
    columns: [
      plain('buyer', 'text'),
      big('price'),
      plain('token_symbol', 'text'),
      big('template_id'),
      plain('maker_marketplace', 'text'),
      plain('collection_name', 'text'),
      plain('collection_fee', 'double precision'),
    ],
    expect: ({ data }) => ({
      key: [id(data.buyoffer_id)],
      values: {
        buyer: text(data.buyer),
        ...price(data.price, { amount: 'price', symbol: 'token_symbol' }),
        template_id: id(data.template_id),
        maker_marketplace: text(data.maker_marketplace),
        collection_name: text(data.collection_name),
        collection_fee: float(data.collection_fee),
      },
    }),
    locate: byNumber,
    insert: { ...created, state: 'sql:0' },
    reopen: [
      'state = 0',
      'seller = NULL',
      'taker_marketplace = NULL',
      'asset_id = NULL',
      'mint = NULL',
      "traits = '{}'",
    ],
    complete: `
      UPDATE market.template_buyoffers t SET (schema_name, name) = (
        SELECT min(w.schema_name), min((coalesce(w.mutable_data, '{}') || w.immutable_data) ->> 'name')
        FROM assets.templates w WHERE w.template_id = t.template_id)`,
  },
]
