import { ConfigError, configFiles, loadConfig, redactConfig } from '../core/config/index.ts'
import { listUnusedSettings } from '../core/config/description/index.ts'
import { readProcessSettings } from '../core/config/environment/index.ts'
import type { ConfigPart, ConfigWith, LoadedConfig } from '../core/config/index.ts'
import { createLogger } from '../core/log/index.ts'
import type { LogDestination, Logger } from '../core/log/index.ts'
import type { CliIo } from './io.ts'
import { chooseMode } from './mode.ts'

/** The option that every command with configuration files has. */
export interface ConfigOption {
  readonly config?: string
}

/** Advice of a command that works on a data directory as well. */
const DATA_INSTEAD = 'For the data directory of `pronghorn standalone` or `npm start` give `--data DIR`.'

/** Loads the configuration that a command needs. Throws ConfigError. @param takesData whether it has `--data`. */
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
 * A logger with the level of `LOG_LEVEL`: short text on a terminal, else JSON. A `companion` runs for a person at a
 * terminal: always short text, and without `LOG_LEVEL` only warnings.
 * @throws ConfigError when the level does not exist.
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

/** `API_WORKERS`; undefined when the program may choose. */
export function readWorkerCount(io: CliIo): number | undefined {
  return readProcessSettings(io.env).apiWorkers
}

/** Configuration and logger of a process that is about to start; warnings and the redacted settings are logged. */
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
  // On a terminal it would push everything else out of sight; `config print` shows it there.
  if (!io.isTerminal) logger.info({ config: redactConfig(config) }, 'configuration')
  return { config, logger }
}
