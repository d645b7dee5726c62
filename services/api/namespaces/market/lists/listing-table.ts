import type { PageLimits } from '../../page-limits.ts'
import { marketListings } from '../../../../core/model/tables/index.ts'
import type { MarketListingName } from '../../../../core/model/tables/index.ts'
import { raw } from '../../../sql/index.ts'
import type { Sql } from '../../../sql/index.ts'
import type { Failure } from '../../../endpoint/index.ts'
import type { Index, Source } from '../../../planner/sources/index.ts'

/** A kind of listing: its table, its columns and its endpoints. In SQL, a listing of any kind has the alias `l`. */
export interface ListingTable {
  /** Number of this kind of listing in `listing_assets`, `trades` and `listing_counts`. */
  readonly kind: number
  /**
   * Last segment of the path of the list, such as `sales`. The endpoints of this kind of listing are grouped under the
   * same name.
   */
  readonly group: string
  /** Name of one listing in sentences, for example `buy offer`. */
  readonly one: string
  /** Title of the list in the documentation. */
  readonly summary: string
  /** Status and message of the answer if no listing has the requested id. */
  readonly missing: Failure
  /** Name of the setting with the page limit of the list. */
  readonly limit: keyof PageLimits
  /** Schema-qualified name of the table. */
  readonly table: string
  /** Key column of the table. The request parameter for the key has the same name. */
  readonly key: ListingKey
  /** Column with the symbol of the token in which the price is paid. */
  readonly symbol: string
  /** Columns with the lowest and the highest mint number of the listing's assets. */
  readonly mints: readonly [lowest: string, highest: string]
  /**
   * Whether a listing has at most one asset. True for template buy offers, which store the template of the asset in
   * their row.
   */
  readonly isSingle?: boolean
  /**
   * All states that rows of the table can have. Set if indexes begin with the column `state`: a query that names all
   * states can use these indexes.
   */
  readonly states?: readonly number[]
  /**
   * SQL expression of the indexed terms of a listing; see market.listing_terms. PostgreSQL uses the GIN index only if
   * the expression equals the indexed expression.
   */
  readonly terms: Sql
  readonly source: Source
}

/** Column with the id of a listing. The request parameter for the id has the same name. */
export type ListingKey = 'sale_id' | 'auction_id' | 'buyoffer_id'

export type ListingKind = MarketListingName

/** Members of `ListingTable` that the data model defines. */
function factsOf(name: ListingKind): Pick<ListingTable, 'kind' | 'one' | 'table' | 'key'> {
  const { kind, one, table } = marketListings[name]
  return { kind, one, table: table.name, key: table.key[0] as ListingKey }
}

/**
 * SQL of the first characters of a name, which the indexes store instead of the name. A B-tree entry holds at most 2.7
 * kB, and names can be longer.
 */
export const NAME_HEAD = raw('left(l.name, 100)')

/**
 * SQL of the price by which indexes order sales: the fixed price of a sale or, if an oracle prices the sale, the
 * listing price.
 */
export const ASKED = raw('coalesce(l.price, l.listing_price)')

/** State number of an open sale. */
export const LISTED = 1

/** State number of a pending buy offer. */
const PENDING = 0

/** State numbers of sales: 0 waiting, 1 listed, 2 cancelled, 3 sold, 4 invalid. */
const listingStates = [0, 1, 2, 3, 4]

/** Condition: the template buy offer is fulfilled. */
export const HAS_ASSET = raw('l.asset_id IS NOT NULL')

/**
 * Index of a listing table by the given columns, then by the key. The last given column is the sort column; the columns
 * before it have equality filters.
 */
function indexOf(table: string, key: string, name: string, ...columns: string[]): Index {
  return { name: `${table}_${name}_idx`, columns: [...columns, key] }
}

function orders(table: string, key: string, mint: string, ...more: string[]): Index[] {
  return [
    { name: `${table}_pkey`, columns: [key] },
    indexOf(table, key, 'created', 'created_at_time'),
    indexOf(table, key, 'updated', 'updated_at_time'),
    indexOf(table, key, 'price', 'price'),
    indexOf(table, key, 'least_mint', mint),
    indexOf(table, key, 'name_head', 'name_head'),
    ...more.map((column) => indexOf(table, key, 'end', column)),
  ]
}

const sale: ListingTable = {
  ...factsOf('sale'),
  group: 'sales',
  summary: 'Sales',
  missing: { status: 416, message: 'Sale not found' },
  limit: 'sales',
  symbol: 'settlement_symbol',
  mints: ['min_mint', 'max_mint'],
  states: listingStates,
  // The terms of sales leave out seller, collection and state, because other indexes of sales begin with these columns.
  terms:
    raw(`market.listing_terms(l.traits, l.template_id, l.template_ids, l.schema_name, l.schema_names, l.asset_count,
      l.collection_name, l.buyer, l.maker_marketplace, l.taker_marketplace, l.settlement_symbol, NULL, NULL)`),
  source: {
    // Lists leave out sales without an offer: the seller has not created the offer yet, or never will.
    from: raw('(SELECT * FROM market.sales WHERE offer_id IS NOT NULL) l'),
    alias: 'l',
    key: 'sale_id',
    indexes: [
      { name: 'sales_pkey', columns: ['sale_id'] },
      indexOf('sales', 'sale_id', 'state_created', 'state', 'created_at_time'),
      indexOf('sales', 'sale_id', 'state_updated', 'state', 'updated_at_time'),
      indexOf('sales', 'sale_id', 'state_asked', 'state', 'asked'),
      indexOf('sales', 'sale_id', 'state_mint', 'state', 'min_mint'),
      indexOf('sales', 'sale_id', 'collection_created', 'collection_name', 'state', 'created_at_time'),
      indexOf('sales', 'sale_id', 'collection_updated', 'collection_name', 'state', 'updated_at_time'),
      indexOf('sales', 'sale_id', 'collection_asked', 'collection_name', 'state', 'asked'),
      indexOf('sales', 'sale_id', 'seller_created', 'seller', 'state', 'created_at_time'),
      indexOf('sales', 'sale_id', 'name_head', 'name_head'),
      {
        ...indexOf('sales', 'sale_id', 'open_name', 'collection_name', 'name_head'),
        only: { column: 'state', value: LISTED },
      },
    ],
    ranges: {
      state: { column: 'state', values: listingStates, type: 'integer', count: listingStates.length },
    },
  },
}

const auction: ListingTable = {
  ...factsOf('auction'),
  group: 'auctions',
  summary: 'Auctions',
  missing: { status: 416, message: 'Auction not found' },
  limit: 'auctions',
  symbol: 'token_symbol',
  mints: ['min_mint', 'max_mint'],
  terms:
    raw(`market.listing_terms(l.traits, l.template_id, l.template_ids, l.schema_name, l.schema_names, l.asset_count,
      l.collection_name, l.buyer, l.maker_marketplace, l.taker_marketplace, l.token_symbol, l.seller, l.state)`),
  source: {
    from: raw('market.auctions l'),
    alias: 'l',
    key: 'auction_id',
    indexes: [
      ...orders('auctions', 'auction_id', 'min_mint', 'end_time'),
      indexOf('auctions', 'auction_id', 'collection_price', 'collection_name', 'price'),
    ],
  },
}

const buyoffer: ListingTable = {
  ...auction,
  ...factsOf('buyoffer'),
  group: 'buyoffers',
  summary: 'Offers to buy assets from their owner',
  missing: { status: 416, message: 'Buyoffer not found' },
  limit: 'buyoffers',
  source: {
    from: raw('market.buyoffers l'),
    alias: 'l',
    key: 'buyoffer_id',
    indexes: [
      ...orders('buyoffers', 'buyoffer_id', 'min_mint'),
      {
        ...indexOf('buyoffers', 'buyoffer_id', 'pending_price', 'collection_name', 'price'),
        only: { column: 'state', value: PENDING },
      },
    ],
  },
}

const templateBuyoffer: ListingTable = {
  ...factsOf('template_buyoffer'),
  group: 'template_buyoffers',
  summary: 'Offers to buy any asset of a template',
  missing: { status: 416, message: 'Buyoffer not found' },
  limit: 'buyoffers',
  isSingle: true,
  symbol: 'token_symbol',
  mints: ['mint', 'mint'],
  terms: raw(`market.listing_terms(l.traits, l.template_id, NULL, l.schema_name, NULL, NULL,
      l.collection_name, l.buyer, l.maker_marketplace, l.taker_marketplace, l.token_symbol, l.seller, l.state)`),
  source: {
    from: raw('market.template_buyoffers l'),
    alias: 'l',
    key: 'buyoffer_id',
    indexes: [
      ...orders('template_buyoffers', 'buyoffer_id', 'mint'),
      indexOf('template_buyoffers', 'buyoffer_id', 'of_template', 'template_id', 'state', 'price'),
    ],
  },
}

/** The kinds of listing, in the order of their numbers. */
export const listingTables: Readonly<Record<ListingKind, ListingTable>> = {
  sale,
  auction,
  buyoffer,
  template_buyoffer: templateBuyoffer,
}

/** Names of the kinds of listing, in the order of their numbers. */
export const listingKinds = Object.keys(listingTables) as ListingKind[]

/** Tables of the market family whose statistics give the row estimates of lists. */
export const marketTables: readonly string[] = [
  ...Object.values(listingTables).map(({ table }) => table),
  'market.bids',
  'market.royalty_payouts',
  'market.logs',
  'market.template_prices',
]
