/** What a kind of listing is in the database. The row is `l` everywhere. */
export interface ListingTable {
  /** Number of the kind in `listing_assets`, `trades` and `listing_counts`. */
  readonly kind: 1 | 2 | 3 | 4
  readonly from: string
  /** Parameter of the key, and its column. */
  readonly parameter: string
  readonly key: string
  /** Token of the price. */
  readonly symbol: string
  /** Lowest and highest mint number. */
  readonly mints: readonly [lowest: string, highest: string]
}

/** Condition on a template buy offer: it is fulfilled. */
export const HAS_ASSET = 'l.asset_id IS NOT NULL'

/** The kinds of listing. */
export const listingTables = {
  sale: {
    kind: 1,
    from: 'market.sales l',
    parameter: 'sale_id',
    key: 'l.sale_id',
    symbol: 'l.settlement_symbol',
    mints: ['l.min_mint', 'l.max_mint'],
  },
  auction: {
    kind: 2,
    from: 'market.auctions l',
    parameter: 'auction_id',
    key: 'l.auction_id',
    symbol: 'l.token_symbol',
    mints: ['l.min_mint', 'l.max_mint'],
  },
  buyoffer: {
    kind: 3,
    from: 'market.buyoffers l',
    parameter: 'buyoffer_id',
    key: 'l.buyoffer_id',
    symbol: 'l.token_symbol',
    mints: ['l.min_mint', 'l.max_mint'],
  },
  template_buyoffer: {
    kind: 4,
    from: 'market.template_buyoffers l',
    parameter: 'buyoffer_id',
    key: 'l.buyoffer_id',
    symbol: 'l.token_symbol',
    mints: ['l.mint', 'l.mint'],
  },
} as const satisfies Record<string, ListingTable>

/** Name of a kind of listing. */
export type ListingKind = keyof typeof listingTables
