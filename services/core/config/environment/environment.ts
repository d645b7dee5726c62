import { logLevels } from '../../log/index.ts'
import type { LogLevel } from '../../log/index.ts'
import { showFound } from '../problems.ts'
import type { ConfigProblem } from '../problems.ts'

/** Variables by name. An empty value counts as absent, because compose files pass unset variables as empty ones. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process. Nothing else in the program reads `process.env`. */
export function readEnvironment(): Environment {
  return process.env
}

/** Settings of a process that are not in a file. */
export interface ProcessSettings {
  /** Directory of the three files, `CONFIG_DIR`; default `./config`. */
  readonly configDir: string
  /** `LOG_LEVEL`; default `info`. */
  readonly logLevel: LogLevel
  /** Processes that serve the api, `API_WORKERS`; undefined when it is 0 or not set. */
  readonly apiWorkers: number | undefined
}

const MAX_WORKERS = 256

/**
 * Reads `CONFIG_DIR`, `LOG_LEVEL` and `API_WORKERS`. What cannot be used is a problem, and the default holds meanwhile.
 */
export function readProcessSettings(
  environment: Environment,
): ProcessSettings & { problems: ConfigProblem[] } {
  const configDir = environment.CONFIG_DIR
  const found = environment.LOG_LEVEL?.toLowerCase()
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

/** NaN when it cannot be used. */
function readWorkers(found: string | undefined): number {
  if (found === undefined || found === '') return 0
  const count = /^\d{1,3}$/.test(found) ? Number(found) : NaN
  return count <= MAX_WORKERS ? count : NaN
}
