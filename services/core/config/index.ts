import { redactSecrets } from '../log/index.ts'
import type { AppConfig } from './types.ts'
export { configFiles } from './types.ts'
export type { AppConfig, ConfigWith, ConfigPart, LoadedConfig } from './types.ts'
export { parseConfig, loadConfig } from './load.ts'
export { ConfigError, showFound } from './problems.ts'
export { formatPath } from './path.ts'
export type { ConfigProblem, ConfigWarning } from './problems.ts'
export { likelyOf } from './nearest.ts'
export { findJsonFault } from './json-scan.ts'

/** Returns a copy of the configuration that may be printed: passwords and API keys are replaced, also inside URLs. */
export function redactConfig(config: Partial<AppConfig>): unknown {
  return redactSecrets(config)
}
