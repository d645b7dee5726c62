export {
  environmentVariables,
  readEnvironment,
  readProcessSettings,
  overlayEnvironment,
  variableFor,
} from './environment.ts'
export type { Environment } from './environment.ts'
export { stateVariables, readStateSettings } from './state-settings.ts'
export type { StateSettings } from './state-settings.ts'
export { findMisspelledVariables } from './misspelled.ts'
