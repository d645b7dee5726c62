/** How much of each kind a generated database has. */
export interface GeneratedSizes {
  readonly collections: number
  /** Most schemas of a collection, from 1 to 11. */
  readonly schemasPerCollection: number
  readonly templates: number
  readonly assets: number
  /** Accounts that may own something; at most `mostAccounts`. */
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

/** The factors that sizes can be scaled by. */
const factors = { least: 0.001, most: 8 } as const
/** Fewest collections of a smaller database that are as many as in the full one, as a factor. */
const ALL_COLLECTIONS = 0.5

/**
 * The same, smaller or larger. A chain that is larger has more of everything; collections and their schemas grow with
 * the root of the factor, since those that are there grow too. @param factor 1 for the full database, at most 8.
 * @throws RangeError for other factors.
 */
export function scaledSizes(factor: number): GeneratedSizes {
  if (!(factor >= factors.least && factor <= factors.most)) {
    throw new RangeError(`a factor from ${factors.least} to ${factors.most} is wanted, not ${factor}`)
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
