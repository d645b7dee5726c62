export {
  assetFilter,
  assetNameSearch,
  collectionLists,
  collectionSearch,
  greyLists,
  hideOffers,
  templateNameSearch,
} from './parameter-groups.ts'
export type { CollectionListValues } from './parameter-groups.ts'
export { ofAccount, ofCollection } from './subjects.ts'
export { assetListParameters } from './asset-list.ts'
export type { AssetValues } from './asset-list.ts'
