export { assetRecord } from './asset-schemas.ts'
export {
  collectionRecord,
  schemaRecord,
  templateRecord,
  schemaOfAccount,
  lightCollection,
  lightTemplate,
} from './entity-schemas.ts'
export { containedAssets } from './contained-assets.ts'
