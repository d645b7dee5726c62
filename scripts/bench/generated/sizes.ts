/** Numbers of collections, assets, transfers and other entities in a generated database. */
export interface GeneratedSizes {
  readonly collections: number
  /** Maximum number of schemas of a collection, 1 to 11. */
  readonly schemasPerCollection: number
  readonly templates: number
  readonly assets: number
  /** Accounts that may own assets; at most `mostAccounts`. */
  readonly accounts: number
  readonly transfers: number
  /** Number of edits of mutable data. */
  readonly edits: number
  readonly offers: number
  readonly sales: number
  readonly auctions: number
  readonly buyoffers: number
  readonly templateBuyoffers: number
}

/** Sizes of the full database, on which every list must be fast. */
export const fullSizes: GeneratedSizes = {
  collections: 200,
  schemasPerCollection: 6,
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

/** Allowed scale factors. */
const factors = { least: 0.001, most: 64 } as const
/** Down to this scale factor, a smaller database has as many collections as the full database. */
const ALL_COLLECTIONS = 0.5

/**
 * Sizes scaled by a factor. A larger chain has more of everything; the numbers of collections and schemas grow with
 * the square root of the factor, because existing collections grow too.
 * @param factor 1 for the full database, at most 64.
 * @throws RangeError for a factor out of range.
 */
export function scaledSizes(factor: number): GeneratedSizes {
  if (!(factor >= factors.least && factor <= factors.most)) {
    throw new RangeError(`the scale factor must be from ${factors.least} to ${factors.most}, not ${factor}`)
  }
  const part = (count: number, least: number): number => Math.max(least, Math.round(count * factor))
  return {
    collections:
      factor > 1
        ? Math.round(fullSizes.collections * Math.sqrt(factor))
        : Math.min(fullSizes.collections, part(fullSizes.collections / ALL_COLLECTIONS, 20)),
    schemasPerCollection: Math.min(
      11,
      Math.round(fullSizes.schemasPerCollection * Math.max(1, Math.sqrt(factor))),
    ),
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
