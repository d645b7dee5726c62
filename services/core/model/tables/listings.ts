import { marketTables } from './market.ts'

/**
 * Description of a kind of listing of the market. Several parts of the program are derived from the description: rules
 * of `verify`, seals, replay, sums, and lists of the API.
 */
export interface MarketListing {
  /** Code of the kind of listing in the column `kind` of the tables listing_assets, listing_counts and trades. */
  readonly kind: number
  readonly table: {
    readonly name: string
    readonly key: readonly string[]
    readonly columns: Readonly<Record<string, unknown>>
  }
  /** Word for one listing of this kind in messages, such as `sale`. */
  readonly one: string
  /** Name of the log action that the contract sends when a listing of this kind is created. */
  readonly created: string
  /** Name of the contract's id counter in market.counters. */
  readonly counter: string
  /** Column of market.config that also contains the id counter; absent if only market.counters has the counter. */
  readonly configCounter?: string
  /** Columns that later blocks may change until the listing has ended. */
  readonly changing: readonly string[]
  /** Columns that are null while the listing is in one of `states`. Absent if no state implies a null column. */
  readonly unset?: { readonly states: readonly number[]; readonly columns: readonly string[] }
  /**
   * Conditions that find the listings of the kind that can no longer change; the row is `t`. An index of the database
   * serves `scan`; `settled` is a further condition on the rows that the index finds. An absent condition is true.
   */
  readonly ended: readonly { readonly scan?: string; readonly settled?: string }[]
}

/** The kinds of listing of the market, ascending by code. */
export const marketListings = {
  sale: {
    kind: 1,
    table: marketTables.sales,
    one: 'sale',
    created: 'lognewsale',
    counter: 'sale',
    configCounter: 'sale_counter',
    changing: ['buyer', 'intended_median', 'offer_id', 'price', 'state', 'taker_marketplace'],
    unset: { states: [0, 1, 4], columns: ['buyer', 'taker_marketplace', 'intended_median'] },
    // The index sales_state_updated_idx finds the sales with an offer by state. The index sales_offer_idx finds the few
    // sales without offer.
    ended: [
      { scan: 't.state = 2 AND t.offer_id IS NOT NULL' },
      { scan: 't.state = 3 AND t.offer_id IS NOT NULL' },
      { scan: 't.offer_id IS NULL', settled: 't.state IN (2, 3)' },
    ],
  },
  auction: {
    kind: 2,
    table: marketTables.auctions,
    one: 'auction',
    created: 'lognewauct',
    counter: 'auction',
    configCounter: 'auction_counter',
    changing: [
      ...['buyer', 'claimed_by_buyer', 'claimed_by_seller', 'end_time', 'price', 'state'],
      'taker_marketplace',
    ],
    ended: [{ settled: 't.state = 2 OR t.claimed_by_seller AND t.claimed_by_buyer' }],
  },
  buyoffer: {
    kind: 3,
    table: marketTables.buyoffers,
    one: 'buy offer',
    created: 'lognewbuyo',
    counter: 'buyoffer',
    changing: ['decline_memo', 'state', 'taker_marketplace'],
    unset: { states: [0, 4], columns: ['taker_marketplace', 'decline_memo'] },
    ended: [{ settled: 't.state IN (1, 2, 3)' }],
  },
  template_buyoffer: {
    kind: 4,
    table: marketTables.templateBuyoffers,
    one: 'template buy offer',
    created: 'lognewtbuyo',
    counter: 'tbuyoffer',
    changing: ['asset_id', 'mint', 'schema_name', 'seller', 'state', 'taker_marketplace'],
    unset: { states: [0], columns: ['taker_marketplace', 'seller', 'asset_id'] },
    ended: [{ settled: 't.state IN (1, 2)' }],
  },
} as const satisfies Readonly<Record<string, MarketListing>>

/** Name of a kind of listing, such as `sale` or `auction`. */
export type MarketListingName = keyof typeof marketListings

/** The kinds of listing of the market, ascending by code. */
export const allMarketListings: readonly MarketListing[] = Object.values(marketListings)

/** Whether a listing contains the ids of its assets. A template buy offer names a template instead. */
export function hasAssetIds({ table }: MarketListing): boolean {
  return 'asset_ids' in table.columns
}
