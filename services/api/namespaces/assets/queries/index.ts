export {
  assetConditions,
  collectionLists,
  NEVER,
  noneOf,
  oneOf,
  ownDataConditions,
} from './asset-conditions.ts'
export { accountCollection } from './account-collection.ts'
export { countFromCounters } from './asset-counters.ts'
export { countHoldings } from './holdings.ts'
export { KnownTexts } from './known-texts.ts'
export { schemaKey } from './schema-key.ts'
export { assetStats, collectionStats, liveSchemas, schemaStats, templateStats } from './stats.ts'
export {
  countOffersFromCounters,
  countTransfersFromCounters,
  countTransfersOfAccount,
} from './trade-counters.ts'
export { resolvedTemplateCondition, resolveTemplates, templateDataConditions } from './template-conditions.ts'
export type { ResolvedTemplates } from './template-conditions.ts'
export { contains, resembles } from './text-match.ts'
