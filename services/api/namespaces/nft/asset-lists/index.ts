export { NOT_OFFERED, assetFilters } from './asset-filters.ts'
export type { AssetRequest } from './asset-filters.ts'
export { assetList, countAssets, assetsOfTemplates, assetsWithoutValue } from './asset-list.ts'
export { templateScope } from './template-scope.ts'
