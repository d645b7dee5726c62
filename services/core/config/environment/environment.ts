import { logLevels } from '../../log/index.ts'
import type { LogLevel } from '../../log/index.ts'
import { showFound } from '../problems.ts'
import type { ConfigProblem } from '../problems.ts'
import { formatPath, isObject } from '../path.ts'

/** Variables by name. An empty value counts as absent, because compose files pass unset variables as empty ones. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process. Nothing else in the program reads `process.env`. */
export function readEnvironment(): Environment {
  return process.env
}

/** How the text of a variable becomes a value. */
type VariableKind = 'text' | 'integer' | 'flag' | 'list'

/** A variable that stands above a key of `connections.config.json`. */
export interface EnvironmentVariable {
  readonly name: string
  readonly path: readonly [section: 'sqldb' | 'kvstore' | 'chain', key: string, ...deeper: string[]]
  readonly kind: VariableKind
}

/** Every variable that overrides a key of `connections.config.json`. */
export const environmentVariables: readonly EnvironmentVariable[] = [
  { name: 'POSTGRES_HOST', path: ['sqldb', 'host'], kind: 'text' },
  { name: 'POSTGRES_PORT', path: ['sqldb', 'port'], kind: 'integer' },
  { name: 'POSTGRES_USER', path: ['sqldb', 'user'], kind: 'text' },
  { name: 'POSTGRES_PASSWORD', path: ['sqldb', 'password'], kind: 'text' },
  { name: 'POSTGRES_DATABASE', path: ['sqldb', 'database'], kind: 'text' },
  { name: 'REDIS_HOST', path: ['kvstore', 'host'], kind: 'text' },
  { name: 'REDIS_PORT', path: ['kvstore', 'port'], kind: 'integer' },
  { name: 'REDIS_USERNAME', path: ['kvstore', 'username'], kind: 'text' },
  { name: 'REDIS_PASSWORD', path: ['kvstore', 'password'], kind: 'text' },
  { name: 'REDIS_CONNECTION_TYPE', path: ['kvstore', 'connection_type'], kind: 'text' },
  { name: 'REDIS_TLS', path: ['kvstore', 'tls'], kind: 'flag' },
  {
    name: 'REDIS_TLS_REJECT_UNAUTHORIZED',
    path: ['kvstore', 'tls', 'rejectUnauthorized'],
    kind: 'flag',
  },
  { name: 'CHAIN_NAME', path: ['chain', 'name'], kind: 'text' },
  { name: 'CHAIN_ID', path: ['chain', 'chain_id'], kind: 'text' },
  { name: 'CHAIN_HTTP', path: ['chain', 'http'], kind: 'text' },
  { name: 'CHAIN_SHIP', path: ['chain', 'ship'], kind: 'list' },
]

/** A connection file with the variables laid over it. */
export interface Overlaid {
  readonly value: unknown
  /** Formatted path -> name of the variable that its value came from. */
  readonly variables: ReadonlyMap<string, string>
}

/** Lays the variables over the content of `connections.config.json`; the variables win. Its argument is not changed. */
export function overlayEnvironment(connections: unknown, environment: Environment): Overlaid {
  const variables = new Map<string, string>()
  if (!isObject(connections)) return { value: connections, variables }
  let value = connections
  for (const variable of environmentVariables) {
    const found = environment[variable.name]
    if (found === undefined || found === '') continue
    const leaf = parseVariable(variable.kind, found)
    if (variable.path.length > 2 && !qualifiesTls(value, leaf)) continue
    value = withValueAt(value, variable.path, leaf)
    variables.set(formatPath(variable.path.slice(0, 2)), variable.name)
  }
  return { value, variables }
}

/**
 * How strict an encrypted connection is says nothing about whether there is one: it is laid over `kvstore.tls` only
 * when that is on, or when it is unusable itself and has to be refused.
 */
function qualifiesTls(value: Record<string, unknown>, leaf: unknown): boolean {
  const tls = isObject(value.kvstore) ? value.kvstore.tls : undefined
  if (tls === undefined || tls === false) return typeof leaf === 'string'
  return tls === true || isObject(tls)
}

function withValueAt(
  value: Record<string, unknown>,
  path: readonly string[],
  leaf: unknown,
): Record<string, unknown> {
  const [key = '', ...rest] = path
  if (rest.length === 0) return { ...value, [key]: leaf }
  const inner = value[key]
  return { ...value, [key]: withValueAt(isObject(inner) ? inner : {}, rest, leaf) }
}

/** Text that does not have the form of its kind stays text, which the schema then refuses. */
function parseVariable(kind: VariableKind, found: string): unknown {
  if (kind === 'integer') return /^\d{1,15}$/.test(found) ? Number(found) : found
  if (kind === 'flag') return flags.get(found.toLowerCase()) ?? found
  if (kind === 'list') return found.includes(',') ? found.split(',').map((each) => each.trim()) : found
  return found
}

const flags = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** The variable that could supply a missing value at a formatted path, if there is one. */
export function variableFor(path: string): string | undefined {
  return environmentVariables.find((variable) => formatPath(variable.path) === path)?.name
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
