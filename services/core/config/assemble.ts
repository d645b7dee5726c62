import type { z } from 'zod'
import { normalizeConnections, normalizeReaders, normalizeServer } from './aliases.ts'
import type { Normalized } from './aliases.ts'
import { connectionsSchema } from './connections/index.ts'
import { overlayEnvironment, settingVariables } from './environment/index.ts'
import type { Environment } from './environment/index.ts'
import { collectFindings } from './findings.ts'
import type { Findings, PartSource } from './findings.ts'
import { formatPath, isObject } from './path.ts'
import type { Path } from './path.ts'
import { ConfigError, problemsFromIssues } from './problems.ts'
import type { ConfigProblem, ConfigWarning } from './problems.ts'
import { checkReaders } from './reader-checks.ts'
import { readersSchema } from './schema/index.ts'
import type { ReaderConfig } from './schema/index.ts'
import { checkServer, checkServerWithReaders } from './server-checks.ts'
import { serverSchema } from './schema/index.ts'
import { configFiles } from './types.ts'
import type { AppConfig, ConfigPart, ConfigWith, LoadedConfig } from './types.ts'
import { viewReaders, viewServer, withoutUnknownKeys } from './views.ts'

/** Content of each configuration file, as parsed JSON. */
export type GivenParts = { readonly [P in ConfigPart]?: unknown }

/** Environment variables that supplied values, by configuration file (`ConfigPart`) and path of the setting. */
export type PartOrigins = { readonly [P in ConfigPart]?: ReadonlyMap<string, string> }

/**
 * Input of `assembleConfig` besides the files: the problems and warnings found so far, and the environment
 * variables for the connection file (null: none apply).
 */
export interface AssemblyContext {
  readonly env: Environment | null
  /** Environment variables that the caller has already applied to the content of the files. */
  readonly origins?: PartOrigins
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly ConfigWarning[]
}

/**
 * Turns the content of the files into a configuration: former names, environment, schema, defaults, checks across
 * files. @throws ConfigError with all problems, the problems of the context first.
 */
export function assembleConfig<N extends ConfigPart>(
  given: GivenParts,
  context: AssemblyContext,
): LoadedConfig<N> {
  const sources = collectSources(given, context)
  const findings = collectFindings(sources)
  findings.problems.push(...context.problems)
  findings.warnings.push(...context.warnings)
  for (const source of sources.values()) findings.problems.push(...source.problems)

  const connections = validate(connectionsSchema, sources.get('connections'), findings)
  const server = validate(serverSchema, sources.get('server'), findings)
  const readers = validate(readersSchema, sources.get('readers'), findings)
  if (context.env) nameVariables(findings)
  checkAcross(server, readers, connections?.data?.chain.chain_id, findings)
  if (connections?.data && !connections.data.kvstore) {
    findings.warn(
      'connections',
      ['kvstore'],
      'without Redis the processes do not share rate limits, cache and live events',
    )
  }
  const corrected = readers?.data?.map((reader, at) => withConfirmation(reader, at, findings))
  if (findings.problems.length > 0) throw new ConfigError(findings.problems)
  const config: Partial<AppConfig> = {
    ...(connections?.data && { connections: connections.data }),
    ...(server?.data && { server: server.data }),
    ...(corrected && { readers: corrected }),
  }
  return { config: config as ConfigWith<N>, warnings: findings.warnings }
}

interface CheckedSource extends PartSource {
  readonly problems: readonly ConfigProblem[]
}

function collectSources(
  given: GivenParts,
  { env, origins = {} }: AssemblyContext,
): Map<ConfigPart, CheckedSource> {
  const sources = new Map<ConfigPart, CheckedSource>()
  if (given.connections !== undefined) {
    sources.set('connections', connectionsSource(given.connections, env, origins.connections))
  }
  if (given.server !== undefined) {
    const normalized = normalizeServer(configFiles.server, given.server)
    sources.set('server', sourceOf('server', normalized, origins.server))
  }
  if (given.readers !== undefined) {
    const normalized = normalizeReaders(configFiles.readers, given.readers)
    sources.set('readers', sourceOf('readers', normalized, origins.readers))
  }
  return sources
}

/**
 * Content of a configuration file after schema validation. `data` is complete, or undefined if a value was refused;
 * `usable` contains the valid values for further checks.
 */
interface Validated<T> {
  readonly data: T | undefined
  readonly usable: unknown
}

function validate<T extends z.ZodType>(
  schema: T,
  source: PartSource | undefined,
  findings: Findings,
): Validated<z.output<T>> | undefined {
  if (!source) return undefined
  const result = schema.safeParse(source.value)
  if (result.success) return { data: result.data, usable: source.value }
  const { issues } = result.error
  findings.problems.push(...problemsFromIssues(issues, source.value, source.originOf))
  return { data: undefined, usable: withoutUnknownKeys(source.value, issues) }
}

function checkAcross(
  server: Validated<unknown> | undefined,
  readers: Validated<unknown> | undefined,
  chainId: string | undefined,
  findings: Findings,
): void {
  const serverView = server && viewServer(server.usable)
  const readerViews = readers && viewReaders(readers.usable)
  if (readerViews) checkReaders(readerViews, findings, chainId)
  if (serverView) checkServer(serverView, findings)
  if (serverView && readerViews) checkServerWithReaders(serverView, readerViews, findings)
}

/** Adds the name of an environment variable to problems about missing values of the connection file. */
function nameVariables(findings: Findings): void {
  findings.problems.forEach((problem, at) => {
    if (problem.file !== configFiles.connections || problem.found !== 'nothing') return
    const variable = connectionVariable(problem.path)
    if (variable === undefined) return
    findings.problems[at] = { ...problem, allowed: `${problem.allowed} (or set the variable ${variable})` }
  })
}

/**
 * Environment variable that can supply a missing value of the connection file. Prefers a former name of the variable,
 * because operators know the former name best.
 */
function connectionVariable(path: string): string | undefined {
  const setting = settingVariables.find(({ part, key }) => part === 'connections' && key === path)
  return setting?.aliases[0] ?? setting?.name
}

function sourceOf(
  part: ConfigPart,
  normalized: Normalized,
  variables: ReadonlyMap<string, string> = new Map(),
): CheckedSource {
  const originOf = (path: Path) =>
    variableAt(variables, path) ?? writtenAt(configFiles[part], normalized, path)
  return { value: normalized.value, originOf, problems: normalized.problems }
}

/** Environment variable that supplied a value, or supplied a JSON value that contains the value. */
function variableAt(
  variables: ReadonlyMap<string, string>,
  path: Path,
): { file: string; path: string } | undefined {
  for (let length = path.length; length > 0; length--) {
    const variable = variables.get(formatPath(path.slice(0, length)))
    if (variable !== undefined)
      return { file: 'environment', path: formatPath([variable, ...path.slice(length)]) }
  }
  return undefined
}

/** Location of a value as written in the file: former names where the file uses them. */
function writtenAt(file: string, normalized: Normalized, path: Path): { file: string; path: string } {
  for (let length = path.length; length > 0; length--) {
    const written = normalized.written.get(formatPath(path.slice(0, length)))
    if (written) return { file, path: formatPath([...written, ...path.slice(length)]) }
  }
  return { file, path: formatPath(path) }
}

function connectionsSource(
  given: unknown,
  env: Environment | null,
  origins: ReadonlyMap<string, string> = new Map(),
): CheckedSource {
  const normalized = normalizeConnections(configFiles.connections, given)
  const value = normalized.value
  // Fill in missing sections, so that each missing key becomes a separate problem that names the environment variable
  // of the key.
  const whole = isObject(value) ? { ...value, sqldb: value.sqldb ?? {}, chain: value.chain ?? {} } : value
  const overlaid = overlayEnvironment('connections', whole, env ?? {})
  const variables = new Map([...origins, ...overlaid.variables])
  return sourceOf('connections', { ...normalized, value: overlaid.value }, variables)
}

type ParsedReader = z.output<typeof readersSchema>[number]

/**
 * Limits the confirmation interval to half of `ship_prefetch_blocks`. A node stops sending when `ship_prefetch_blocks`
 * blocks are unconfirmed, so the reader would never reach a greater interval.
 */
function withConfirmation(reader: ParsedReader, at: number, findings: Findings): ReaderConfig {
  const half = Math.max(1, Math.floor(reader.ship_prefetch_blocks / 2))
  const wanted = reader.ship_min_block_confirmation
  if (wanted !== undefined && wanted <= reader.ship_prefetch_blocks) {
    return { ...reader, ship_min_block_confirmation: wanted }
  }
  if (wanted !== undefined) {
    const message = `${wanted} exceeds ship_prefetch_blocks (${reader.ship_prefetch_blocks}); ${half} is used`
    findings.warn('readers', [at, 'ship_min_block_confirmation'], message)
  }
  return { ...reader, ship_min_block_confirmation: half }
}
