export { cappedPrice, containedAssetRenderer, marketAssetRenderer } from './asset-members.ts'
export {
  readAuctions,
  readBuyoffers,
  readSales,
  readTemplateBuyoffers,
  renderAuctions,
  renderBuyoffers,
  renderListedSales,
  renderSales,
  renderTemplateBuyoffers,
} from './listing-records.ts'
export type { ListingReader } from './listing-records.ts'
export { MarketParts } from './market-parts.ts'
export {
  auctionRecord,
  buyofferRecord,
  listedSaleRecord,
  listingAsset,
  saleRecord,
  templateBuyofferRecord,
} from './listing-schemas.ts'
export { auctionActions, buyofferActions, saleActions, templateBuyofferActions } from './log-schemas.ts'
export { renderPayouts } from './royalty-records.ts'
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
