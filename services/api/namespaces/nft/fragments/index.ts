export {
  COLLECTION_VERSION,
  collectionFragment,
  collectionObject,
  templateFragment,
  SCHEMA_VERSION,
  schemaFragment,
  TEMPLATE_VERSION,
  COLLECTION_RECORD_VERSION,
  collectionRecordFragment,
} from './shared-rows.ts'
export { readPairs, collectionVersionsOf, templateVersionsOf, schemaVersionsOf } from './versions.ts'
