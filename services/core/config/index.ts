import { redactSecrets } from '../log/index.ts'
import type { AppConfig } from './types.ts'

export type { ConnectionsConfig, KvstoreConfig, ShipConfig, SqldbConfig } from './connections-schema.ts'
export { findMisspelledVariables } from './misspelled.ts'
export { environmentVariables, readEnvironment, readProcessSettings } from './environment.ts'
export type { Environment, EnvironmentVariable, ProcessSettings } from './environment.ts'
export { loadConfig, parseConfig } from './load.ts'
export type { LoadOptions } from './load.ts'
export { isAddressRange } from './fields.ts'
export { knownChains, startBlockProblem } from './known-chains.ts'
export { nearestOf } from './nearest.ts'
export { ConfigError, formatProblem, showFound } from './problems.ts'
export type { ConfigProblem, ConfigWarning } from './problems.ts'
export type { ContractConfig, HandlerName, ReaderConfig } from './readers-schema.ts'
export { namespaceNames } from './server-schema.ts'
export type { NamespaceConfig, NamespaceName, ServerConfig } from './server-schema.ts'
export { readStateSettings, stateVariables } from './state-settings.ts'
export type { StateSettings, StateVariable } from './state-settings.ts'
export { describeSettings } from './settings-rows.ts'
export type { SettingRow } from './settings-rows.ts'
export { configFiles } from './types.ts'
export { listUnusedSettings, settingsWithoutEffect } from './without-effect.ts'
export type { SettingWithoutEffect } from './without-effect.ts'
export type { AppConfig, ConfigPart, ConfigWith, LoadedConfig } from './types.ts'

/** The configuration as it may be printed: passwords and API keys, also those inside URLs, are replaced. */
export function redactConfig(config: Partial<AppConfig>): unknown {
  return redactSecrets(config)
}
