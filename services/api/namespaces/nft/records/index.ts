export { assets, assetsOf, templateMint, assetList, containedAssets } from './assets.ts'
export {
  collectionObject,
  collectionRow,
  lightCollection,
  templateMember,
  templateRow,
} from './shared-rows.ts'
export { collections, schemas, schemasOfAccount, templates } from './entity-records.ts'
