import { ConfigError, configFiles, loadConfig, redactConfig } from '../core/config/index.ts'
import { listUnusedSettings } from '../core/config/description/index.ts'
import { readProcessSettings } from '../core/config/environment/index.ts'
import type { ConfigPart, ConfigWith, LoadedConfig } from '../core/config/index.ts'
import { createLogger } from '../core/log/index.ts'
import type { LogDestination, Logger } from '../core/log/index.ts'
import type { CliIo } from './io.ts'
import { chooseMode } from './mode.ts'

/** Flag of every command that reads configuration files. */
export interface ConfigOption {
  readonly config?: string
}

/** Sentence after a configuration error of commands that also accept a data directory. */
const DATA_INSTEAD = 'For the data directory of `pronghorn standalone` or `npm start` give `--data DIR`.'

/**
 * Loads the configuration that a command needs. @param takesData whether the command also accepts `--data`. @throws
 * ConfigError
 */
export function loadSettings<N extends ConfigPart>(
  io: CliIo,
  option: ConfigOption,
  need: readonly N[],
  takesData = false,
): LoadedConfig<N> {
  return loadConfig({
    env: io.env,
    need,
    ...(option.config === undefined ? {} : { dir: option.config }),
    ...(takesData && chooseMode([], io.env) === 'process' ? { withoutFiles: DATA_INSTEAD } : {}),
  })
}

/**
 * Creates a logger with the level of `LOG_LEVEL`: short text on a terminal, else JSON. A `companion` process runs next
 * to a person's terminal: always short text, and only warnings unless `LOG_LEVEL` is set. @throws ConfigError for an
 * unknown level.
 */
export function openLogger(
  io: CliIo,
  name: string,
  kind: 'service' | 'companion' = 'service',
  destination?: LogDestination,
): Logger {
  const { logLevel, problems } = readProcessSettings(io.env)
  if (problems.length > 0) throw new ConfigError(problems)
  const isCompanion = kind === 'companion'
  const level = isCompanion && (io.env.LOG_LEVEL ?? '') === '' ? 'warn' : logLevel
  const to = destination === undefined ? {} : { destination }
  return createLogger({ name, level, pretty: isCompanion || io.isTerminal, ...to })
}

/** Value of `API_WORKERS`; undefined lets the program choose. */
export function readWorkerCount(io: CliIo): number | undefined {
  return readProcessSettings(io.env).apiWorkers
}

/**
 * Loads the configuration and creates the logger of a starting process; logs warnings and the redacted configuration.
 */
export function prepareProcess<N extends ConfigPart>(
  io: CliIo,
  option: ConfigOption,
  name: string,
  need: readonly N[],
): { readonly config: ConfigWith<N>; readonly logger: Logger } {
  const { config, warnings } = loadSettings(io, option, need)
  const logger = openLogger(io, name)
  for (const { file, path, message } of warnings) logger.warn({ file, path }, message)
  for (const { part, key, why } of listUnusedSettings(config)) {
    if (need.includes(part as N))
      logger.warn({ file: configFiles[part], path: key }, `has no effect in this version: ${why}`)
  }
  // On a terminal the long line of the configuration would hide the other lines, so it is not logged. `config print`
  // shows the configuration.
  if (!io.isTerminal) logger.info({ config: redactConfig(config) }, 'configuration')
  return { config, logger }
}
