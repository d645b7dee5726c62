import type { KeyedTable, RowOf } from '../../../core/model/index.ts'
import {
  allMarketListings,
  hasAssetIds,
  marketListings,
  marketTables as tables,
} from '../../../core/model/tables/index.ts'
export { tables }

/** Codes of listing types in the database. */
export const kinds = {
  sale: marketListings.sale.kind,
  auction: marketListings.auction.kind,
  buyoffer: marketListings.buyoffer.kind,
  templateBuyoffer: marketListings.template_buyoffer.kind,
} as const

/** A listing table whose rows contain the asset ids. */
interface Bundle {
  readonly kind: number
  /** Typed with the asset columns only: derivations from assets read no other columns. */
  readonly table: KeyedTable<ListedAssets>
  /** Name of the key column. */
  readonly id: string
}

/**
 * Listing tables whose rows contain the asset ids. Template buy offers are absent, because a template buy offer names a
 * template.
 */
export const bundles: readonly Bundle[] = allMarketListings.filter(hasAssetIds).map(({ kind, table }) => ({
  kind,
  table: table as unknown as KeyedTable<ListedAssets>,
  id: table.key[0]!,
}))

export type SaleRow = RowOf<typeof tables.sales>
export type AuctionRow = RowOf<typeof tables.auctions>
export type BuyofferRow = RowOf<typeof tables.buyoffers>
export type TemplateBuyofferRow = RowOf<typeof tables.templateBuyoffers>
export type TradeRow = RowOf<typeof tables.trades>
export type SymbolPairRow = RowOf<typeof tables.symbolPairs>
export type SchemaStatsRow = RowOf<typeof tables.schemaStats>
export type PartyStatsRow = RowOf<typeof tables.partyStats>
export type MarketplaceAccountRow = RowOf<typeof tables.marketplaceAccounts>
export type PriceDayRow = RowOf<typeof tables.priceDays>
export type TemplatePriceRow = RowOf<typeof tables.templatePrices>

/** Columns of a listing that describe its assets. `listedAssets` sets these columns when the row is written. */
export type ListedAssets = Pick<
  SaleRow,
  | 'template_id'
  | 'min_mint'
  | 'max_mint'
  | 'asset_count'
  | 'schema_name'
  | 'name'
  | 'asset_names'
  | 'asset_ids'
  | 'template_ids'
  | 'schema_names'
  | 'traits'
>
