/** How much of each kind a generated database has. */
export interface GeneratedSizes {
  readonly collections: number
  readonly templates: number
  readonly assets: number
  /** Accounts that may own something; at most 65,536. */
  readonly accounts: number
  readonly transfers: number
  /** Changes of mutable data. */
  readonly edits: number
  readonly offers: number
  readonly sales: number
  readonly auctions: number
  readonly buyoffers: number
  readonly templateBuyoffers: number
}

/** The database that every list must be fast on. */
export const fullSizes: GeneratedSizes = {
  collections: 200,
  templates: 5_000,
  assets: 1_000_000,
  accounts: 60_000,
  transfers: 3_000_000,
  edits: 300_000,
  offers: 200_000,
  sales: 400_000,
  auctions: 50_000,
  buyoffers: 100_000,
  templateBuyoffers: 20_000,
}

/** The same, smaller. @param factor 1 for the full database. */
export function scaledSizes(factor: number): GeneratedSizes {
  const part = (count: number, least: number): number => Math.max(least, Math.round(count * factor))
  return {
    collections: part(fullSizes.collections * 2, 20) > 200 ? 200 : part(fullSizes.collections * 2, 20),
    templates: part(fullSizes.templates, 200),
    assets: part(fullSizes.assets, 1_000),
    accounts: part(fullSizes.accounts, 300),
    transfers: part(fullSizes.transfers, 1_000),
    edits: part(fullSizes.edits, 100),
    offers: part(fullSizes.offers, 200),
    sales: part(fullSizes.sales, 400),
    auctions: part(fullSizes.auctions, 100),
    buyoffers: part(fullSizes.buyoffers, 200),
    templateBuyoffers: part(fullSizes.templateBuyoffers, 100),
  }
}
