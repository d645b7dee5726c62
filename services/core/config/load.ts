import { join } from 'node:path'
import { assembleConfig } from './assemble.ts'
import type { PartOrigins } from './assemble.ts'
import { findVariable, readEnvironment, readProcessSettings, settingVariables } from './environment/index.ts'
import type { Environment } from './environment/index.ts'
import { readJsonFile } from './json-file.ts'
import type { ConfigProblem, ConfigWarning } from './problems.ts'
import { configFiles } from './types.ts'
import type { ConfigPart, LoadedConfig } from './types.ts'

export interface LoadOptions<N extends ConfigPart> {
  /** Required files. Other files are validated and returned if they exist. */
  readonly need: readonly N[]
  /** Directory of the files; default: `CONFIG_DIR`, then `./config`. */
  readonly dir?: string
  /** Environment variables. Default: the environment of the process. */
  readonly env?: Environment
  /** Advice for an operator who has no configuration files, as a sentence. */
  readonly withoutFiles?: string
}

const allParts = ['connections', 'server', 'readers'] as const

/**
 * Reads the configuration files, applies environment variables and validates the result.
 * @throws ConfigError with all problems of all files and variables.
 */
export function loadConfig<N extends ConfigPart>(options: LoadOptions<N>): LoadedConfig<N> {
  const env = options.env ?? readEnvironment()
  const settings = readProcessSettings(env)
  const dir = options.dir ?? settings.configDir
  const problems: ConfigProblem[] = [...settings.problems]
  const warnings: ConfigWarning[] = []
  const given: Partial<Record<ConfigPart, unknown>> = {}
  const withoutFiles = options.withoutFiles === undefined ? '' : ` ${options.withoutFiles}`
  for (const part of allParts) {
    const name = configFiles[part]
    const content = readJsonFile(join(dir, name), name)
    if (content.kind === 'value') given[part] = content.value
    if (content.kind === 'problem') problems.push(content.problem)
    if (content.kind !== 'absent' || !(options.need as readonly ConfigPart[]).includes(part)) continue
    if (part === 'connections' && hasConnectionVariable(env)) {
      given.connections = {}
      const message = `the directory ${dir} does not contain this file, so only environment variables set the connections`
      warnings.push({ file: name, path: '', message })
    } else {
      problems.push({
        file: name,
        path: '',
        found: `no such file in ${dir}`,
        allowed: allowedAbsence(part),
        message: `${name} not found in ${dir}. ${adviceFor(part)}${part === 'connections' ? withoutFiles : ''}`,
      })
    }
  }
  return assembleConfig(given, { env, problems, warnings })
}

function hasConnectionVariable(env: Environment): boolean {
  return settingVariables.some(
    (setting) => setting.part === 'connections' && findVariable(setting, env) !== undefined,
  )
}

function adviceFor(part: ConfigPart): string {
  const advice = 'Create it, or set CONFIG_DIR to the directory that has it'
  return part === 'connections' ? `${advice}, or set POSTGRES_*, REDIS_* and CHAIN_* instead.` : `${advice}.`
}

function allowedAbsence(part: ConfigPart): string {
  const file = 'a JSON file in this directory, or in the directory that the variable CONFIG_DIR names'
  return part === 'connections'
    ? `${file}, or the variables POSTGRES_*, REDIS_* and CHAIN_* instead of the file`
    : file
}

/**
 * Validates a configuration given as JSON values, without files or environment. Given parts must be complete; other
 * parts are absent from the result.
 * @param origins environment variables that supplied values; problems of these values name the variables.
 * @throws ConfigError with all problems.
 */
export function parseConfig<const T extends { readonly [P in ConfigPart]?: unknown }>(
  given: T,
  origins: PartOrigins = {},
): LoadedConfig<Extract<keyof T, ConfigPart>> {
  return assembleConfig(given, { env: null, origins, problems: [], warnings: [] })
}
