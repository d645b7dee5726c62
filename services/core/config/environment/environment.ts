import { logLevels } from '../../log/index.ts'
import type { LogLevel } from '../../log/index.ts'
import { showFound } from '../problems.ts'
import type { ConfigProblem } from '../problems.ts'

/**
 * Environment variables by name. An empty value counts as absent, because compose files pass unset variables as empty
 * variables.
 */
export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process. Nothing else in the program reads `process.env`. */
export function readEnvironment(): Environment {
  return process.env
}

/** Settings of a process that are environment variables only. */
export interface ProcessSettings {
  /** `CONFIG_DIR`: directory of the configuration files; default `./config`. */
  readonly configDir: string
  /** `LOG_LEVEL`; default `info`. */
  readonly logLevel: LogLevel
  /** `API_WORKERS`: number of API worker processes; undefined if 0 or not set. */
  readonly apiWorkers: number | undefined
}

const MAX_WORKERS = 256

/**
 * Reads `CONFIG_DIR`, `LOG_LEVEL` and `API_WORKERS`. An invalid value is reported as a problem, and the default
 * applies.
 */
export function readProcessSettings(
  environment: Environment,
): ProcessSettings & { problems: ConfigProblem[] } {
  const configDir = environment.CONFIG_DIR
  const found = environment.LOG_LEVEL
  const level = found === undefined || found === '' ? 'info' : logLevels.find((each) => each === found)
  const workers = readWorkers(environment.API_WORKERS)
  const problem = (path: string, allowed: string): ConfigProblem => ({
    file: 'environment',
    path,
    found: showFound([], environment[path]),
    allowed,
  })
  return {
    configDir: configDir === undefined || configDir === '' ? './config' : configDir,
    logLevel: level ?? 'info',
    apiWorkers: workers === 0 ? undefined : workers,
    problems: [
      ...(level === undefined ? [problem('LOG_LEVEL', `one of ${logLevels.join(', ')}`)] : []),
      ...(Number.isNaN(workers) ? [problem('API_WORKERS', `a whole number from 0 to ${MAX_WORKERS}`)] : []),
    ],
  }
}

/** Parses the number of workers; NaN if invalid. */
function readWorkers(found: string | undefined): number {
  if (found === undefined || found === '') return 0
  const count = /^\d{1,3}$/.test(found) ? Number(found) : NaN
  return count <= MAX_WORKERS ? count : NaN
}
