export { accountCollection } from './account-collection.ts'
export { countFromCounters } from './asset-counters.ts'
export { countHoldings } from './holdings.ts'
export { schemaKey } from './schema-key.ts'
export { assetStats, collectionStats, liveSchemas, schemaStats, templateStats } from './stats.ts'
export {
  countOffersFromCounters,
  countTransfersFromCounters,
  countTransfersOfAccount,
} from './trade-counters.ts'
