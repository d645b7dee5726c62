export { marketAssetExtension } from './asset-members.ts'
export { marketRecordKinds } from './kinds.ts'
export type { MarketRecords } from './kinds.ts'
export { cappedPrice } from './template-prices.ts'
export {
  auctionRecord,
  buyofferRecord,
  listedSaleRecord,
  listingAsset,
  saleRecord,
  templateBuyofferRecord,
} from './listing-schemas.ts'
export { auctionActions, buyofferActions, saleActions, templateBuyofferActions } from './log-schemas.ts'
export {
  CATEGORIES,
  LISTING_TYPES,
  payoutRecord,
  royaltyAttributeRecord,
  royaltyConfigRecord,
  royaltySumRecord,
  royaltyTemplateRecord,
} from './royalty-schemas.ts'
export {
  assetSaleRecord,
  inventoryRecord,
  marketConfigRecord,
  marketplaceRecord,
  priceDayRecord,
  priceSumRecord,
  statsRecords,
  templatePriceRecord,
  tradeRecord,
} from './stats-schemas.ts'
