export { assetRecord } from './asset-schemas.ts'
export {
  collectionRecord,
  schemaRecord,
  templateRecord,
  schemaOfAccount,
  lightCollection,
  lightTemplate,
} from './entity-schemas.ts'
export { containedAssets, unknownAssetJson } from './contained-assets.ts'
