export { addApi } from './api.ts'
export {
  addCertificates,
  addDoctor,
  addHasuraMetadata,
  addPrepareDatabase,
  addProbe,
  addRenderConfig,
  addRotateSecrets,
  addSmokeTest,
} from './appliance.ts'
export { addConfig } from './config.ts'
export { addDevchain } from './devchain.ts'
export { addDigest } from './digest.ts'
export { addFiller } from './filler.ts'
export { addImportDatabase } from './import-database.ts'
export { addImportState } from './import-state.ts'
export { addKeys } from './keys.ts'
export { addMigrate } from './migrate.ts'
export { addStandalone } from './standalone.ts'
export { addState } from './state.ts'
export { addVerify } from './verify.ts'
