import { redactSecrets } from '../log/index.ts'
import type { AppConfig } from './types.ts'
export { configFiles } from './types.ts'
export type { AppConfig, ConfigWith, ConfigPart, LoadedConfig } from './types.ts'
export { describeSettings } from './settings-rows.ts'
export type { SettingRow } from './settings-rows.ts'
export { environmentVariables, readEnvironment, readProcessSettings } from './environment.ts'
export type { Environment } from './environment.ts'
export { namespaceNames } from './server-schema.ts'
export type { NamespaceConfig, ServerConfig, NamespaceName } from './server-schema.ts'
export { parseConfig, loadConfig } from './load.ts'
export { settingsWithoutEffect, listUnusedSettings } from './without-effect.ts'
export { stateVariables, readStateSettings } from './state-settings.ts'
export type { StateSettings } from './state-settings.ts'
export { ConfigError, showFound } from './problems.ts'
export type { ConfigProblem, ConfigWarning } from './problems.ts'
export type { ShipConfig, ConnectionsConfig, SqldbConfig, KvstoreConfig } from './connections-schema.ts'
export { knownChains, startBlockProblem } from './known-chains.ts'
export { nearestOf } from './nearest.ts'
export { isAddressRange } from './fields.ts'
export { findMisspelledVariables } from './misspelled.ts'

/** The configuration as it may be printed: passwords and API keys, also those inside URLs, are replaced. */
export function redactConfig(config: Partial<AppConfig>): unknown {
  return redactSecrets(config)
}
