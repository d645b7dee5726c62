import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { configFiles, ConfigError, formatPath, parseConfig } from '../../core/config/index.ts'
import type { AppConfig, ConfigPart, ConfigProblem, ConfigWarning } from '../../core/config/index.ts'
import { readStateSettings } from '../../core/config/environment/index.ts'
import type { Environment } from '../../core/config/environment/index.ts'
import { listUnusedSettings } from '../../core/config/description/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import { ensureSelfSigned } from '../tls/index.ts'
import { findUnknownNames, namesMeantForUs, namesOfContainer, parseEnvFile, readEnvFile } from './env-file.ts'
import type { EnvFile } from './env-file.ts'
import { forgetRendering, noteRendering, whyNotFormer } from './former.ts'
import { PRIVATE_KEY_COMMAND, renderLibpq } from './libpq.ts'
import type { RenderedFile } from './libpq.ts'
import { takesPath, renderNginx, unportableOrigins } from './nginx.ts'
import { readOperatorFiles } from './operator-files.ts'
import { namesOfComposeFiles } from './compose-files.ts'
import { noOwnFiles, readOwnFiles } from './own-files.ts'
import type { OwnFiles } from './own-files.ts'
import { placeOf, withHostPath } from './host-paths.ts'
import type { OperatorPlaces } from './host-paths.ts'
import { checkPlaces, superuserPasswordFile } from './places.ts'
import { computePostgresSettings } from './postgres.ts'
import { listMetricsPorts, renderPrometheus, warnUnwatched } from './prometheus.ts'
import { namesOfProblem, resolveUsable, variableOf } from './resolve.ts'
import type { Resolution } from './resolve.ts'
import type { Resolved, Values } from './resolved.ts'
import { ensureSecrets, secretNames } from './secrets.ts'
import { readSuperuserPassword } from './superuser.ts'
import type { SecretName, Secrets } from './secrets.ts'
import { distinct, nameVariable, renderJson, services } from './render-json.ts'
import { fillTemplate } from './template.ts'
import { BUNDLED_POSTGRES, BUNDLED_REDIS, isHostPath } from './variables.ts'
import { warnInContainer, warnWithoutEffect } from './without-effect.ts'

/** Output folder of `render`, and the places of the operator's files. */
export interface RenderPlaces extends OperatorPlaces {
  /** Folder of the rendered files. Each service has its own subfolder. */
  readonly out: string
  /** The `.env` to check, as a path or as text; undefined: only the environment is checked. */
  readonly envFile?: string | { readonly text: string } | undefined
}

/** Result of a rendering. */
export interface RenderReport {
  readonly isDemo: boolean
  readonly chain: string
  readonly secretsCreated: readonly SecretName[]
  readonly certificateCreated: boolean
  readonly warnings: readonly ConfigWarning[]
  /** Advice for the operator, such as a larger PG_MEMORY. */
  readonly hints: readonly string[]
}

/** Port at which public ACME authorities ask for the proof of a name (RFC 8555, 8.3). */
const ACME_PORT = 80
/** Connections of the filler, Hasura, the migrations and the operator's SQL clients. */
const OTHER_CONNECTIONS = 40
/**
 * PostgreSQL connections of an api process besides its pool: one for the feed, and one that polls the database. Each
 * may briefly be open twice.
 */
const OWN_CONNECTIONS = 2
/**
 * Maximum of `max_connections`: each connection is a process, and `pids_limit` of the container is 8192. PostgreSQL
 * itself allows 262143.
 */
const MOST_CONNECTIONS = 8_000

/**
 * Checks the environment and everything that would be rendered from it; writes nothing.
 * @throws ConfigError with every problem, each naming its variable or key.
 */
export async function checkRender(environment: Environment, places: RenderPlaces): Promise<RenderReport> {
  const { resolved, own, problems, refused } = resolveAll(environment, places)
  const placeholder = Object.fromEntries(Object.keys(secretNames).map((name) => [name, 'secret']))
  const ownFiles = [...own.texts.keys()].map((part) => configFiles[part])
  // A problem in a rendered file at a key that no variable sets may follow from a refused variable.
  const isAnother = ({ file, path }: ConfigProblem): boolean =>
    problems.length === 0 ||
    ownFiles.includes(file) ||
    (file === 'environment' && !refused.has(variableOf(path)))
  try {
    const secrets = placeholder as Record<SecretName, string>
    const { warnings } = await prepare(resolved, secrets, { places, own, isPartial: refused.size > 0 })
    if (problems.length === 0) return report(resolved, [], false, warnings)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(...error.problems.filter(isAnother))
  }
  throw new ConfigError(problems)
}

/**
 * Renders every file of the appliance. Existing secrets and certificates are not changed. @throws ConfigError with
 * every problem, before anything is written.
 */
export async function render(environment: Environment, places: RenderPlaces): Promise<RenderReport> {
  await checkRender(environment, places)
  const { resolved, own } = resolveAll(environment, places)
  const { values } = resolved
  const passwordFile = superuserPasswordFile(values, places)
  const { secrets, made } = await ensureSecrets(
    join(places.out, 'secrets'),
    passwordFile === undefined ? {} : { superuser: await readSuperuserPassword(passwordFile) },
  )
  const { files, warnings } = await prepare(resolved, secrets, { places, own, isPartial: false })
  await forgetRendering(places.out)
  for (const file of files) await install(places.out, file)
  const certificates = join(places.out, 'certificates')
  let certificateCreated = false
  if (values.TLS_MODE === 'selfsigned') {
    certificateCreated = await ensureSelfSigned(certificates, values.DOMAIN)
  } else if (values.TLS_MODE === 'acme') {
    // nginx needs a certificate to start before the authority has issued one.
    certificateCreated = await ensureSelfSigned(certificates, values.DOMAIN, 0)
  }
  await install(places.out, noteRendering(values))
  return report(resolved, made, certificateCreated, warnings)
}

/** Result of `renderOrKeep` if settings are refused and the folder has the files of an earlier rendering. */
export interface Refusal {
  readonly refused: ConfigError
  /** Reason why the earlier rendered files cannot be used any longer; undefined if they are used. */
  readonly whyNotFormer: string | undefined
}

/** Renders like `render`. If settings are refused, the files of the earlier rendering stay unchanged. */
export async function renderOrKeep(
  environment: Environment,
  places: RenderPlaces,
): Promise<RenderReport | Refusal> {
  try {
    return await render(environment, places)
  } catch (refused) {
    if (!(refused instanceof ConfigError)) throw refused
    const { values } = resolveAll(environment, places).resolved
    return { refused, whyNotFormer: await whyNotFormer(places.out, values, refused.problems) }
  }
}

/** The operator's own JSON files, from the folder that `CONFIG_FILES` names. */
function findOwnFiles(environment: Environment, places: Pick<OperatorPlaces, 'mounted'>): OwnFiles {
  const shown = environment.CONFIG_FILES ?? ''
  return !isHostPath(shown) ? noOwnFiles : readOwnFiles(placeOf('CONFIG_FILES', shown, places), shown)
}

/**
 * The appliance's variables, merged with the values of the operator's JSON files.
 * @param needed variables that the caller uses; only their problems are thrown. Undefined: all variables.
 * @throws ConfigError
 */
export function readVariables(
  environment: Environment,
  places: Pick<OperatorPlaces, 'mounted'> = {},
  needed?: readonly (keyof Values)[],
): Resolved {
  const { resolved, problems } = resolveUsable(environment, findOwnFiles(environment, places), new Set())
  const own = problems.filter(
    (problem) => needed === undefined || namesOfProblem(problem).some((name) => isOneOf(needed, name)),
  )
  if (own.length > 0) throw new ConfigError(own)
  return resolved
}

const isOneOf = (names: readonly string[], name: string): boolean => names.includes(name)

function readEnv(environment: Environment, { envFile }: RenderPlaces): EnvFile | null | undefined {
  if (envFile === undefined || typeof envFile === 'string')
    return envFile === undefined ? undefined : readEnvFile(envFile, environment)
  return parseEnvFile(envFile.text, environment)
}

/** Resolves all settings, and collects the problems of `.env` lines and variables. */
function resolveAll(
  environment: Environment,
  places: RenderPlaces,
): Omit<Resolution, 'problems'> & { readonly own: OwnFiles; readonly problems: ConfigProblem[] } {
  const file = readEnv(environment, places)
  if (file?.isUnreadable) throw new ConfigError(file.problems)
  const all = { ...file?.values, ...environment }
  const own = findOwnFiles(all, places)
  const names = file ? Object.keys(file.values) : file === null ? namesOfContainer(all) : namesMeantForUs(all)
  const unreadable = file?.problems ?? []
  const read = namesOfComposeFiles(all, places)
  const others = new Set([...own.used, ...(file?.used ?? []), ...(read ?? [])])
  const unknown = findUnknownNames(names, others, read === undefined)
  const namesIn = (found: readonly ConfigProblem[]) => new Set(found.map(({ path }) => variableOf(path)))
  // Unknown names count as not set. DEMO_CHAIN in `.env` is one of them: only a compose file sets DEMO_CHAIN.
  const ignored = namesIn(unknown)
  const known = new Set([...namesIn(unreadable), ...ignored])
  const { resolved, problems, refused } = resolveUsable(all, own, known)
  return {
    resolved,
    own,
    refused: new Set([...refused].filter((name) => !ignored.has(name))),
    problems: [...unreadable, ...unknown, ...own.problems, ...problems],
  }
}

async function install(out: string, file: RenderedFile): Promise<void> {
  const dir = join(out, file.service)
  await mkdir(dir, { recursive: true })
  const path = join(dir, file.name)
  await writeFile(`${path}.new`, file.text, { mode: file.mode })
  await rename(`${path}.new`, path)
}

/** Context of a rendering: the operator's JSON files, and whether variables were refused. */
interface Surroundings {
  readonly places: RenderPlaces
  readonly own: OwnFiles
  /** Whether a variable was refused. Problems of rendered files may then be consequences of the refusal. */
  readonly isPartial: boolean
}

async function prepare(
  resolved: Resolved,
  secrets: Secrets,
  plan: Surroundings,
): Promise<{ files: RenderedFile[]; warnings: readonly ConfigWarning[] }> {
  const { values, given } = resolved
  const { places, own } = plan
  const [atHand, operatorFiles] = await Promise.all([
    checkPlaces(resolved, places),
    readOperatorFiles(given, places),
  ])
  const problems = [...atHand.problems, ...operatorFiles.problems]
  const files: RenderedFile[] = []
  let warnings: ConfigWarning[] = []
  let config: AppConfig | undefined
  for (const service of services) {
    const found: ConfigProblem[] = []
    const { parts, origins } = renderJson({ resolved, secrets, service, own }, found)
    try {
      if (found.length > 0) throw new ConfigError(found)
      const loaded = parseConfig(parts, origins)
      const { server } = loaded.config
      const taken = [...refuseTakenPaths(resolved, server), ...refuseConnections(resolved, server, own)]
      if (taken.length > 0) throw new ConfigError(taken)
      warnings = [...loaded.warnings]
      config = loaded.config
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      if (service === services[0])
        problems.push(
          ...distinct(
            error.problems.map((problem) =>
              plan.isPartial ? problem : nameVariable(withHostPath(problem, given), parts, own),
            ),
          ),
        )
    }
    for (const part of Object.keys(parts) as ConfigPart[]) {
      const text = `${JSON.stringify(parts[part], null, 2)}\n`
      files.push({ service, name: configFiles[part], text, mode: 0o440 })
    }
    const password = config?.connections.sqldb.password ?? ''
    files.push({ service, name: 'database-password', text: password, mode: 0o440 })
    for (const [name, text] of operatorFiles.texts) files.push({ service, name, text, mode: 0o440 })
  }
  if (config === undefined || problems.length > 0) throw new ConfigError(problems)
  warnings.push(...atHand.warnings, ...warnAboutVariables(values, given))
  warnings.push(...warnWithoutEffect(resolved), ...warnInContainer(resolved))
  warnings.push(...warnAboutClients(config, own))
  warnings.push(...warnUnwatched(resolved, listMetricsPorts(resolved, config)))
  for (const { part, key, why } of listUnusedSettings(config))
    warnings.push({ file: configFiles[part], path: key, message: `has no effect: ${why}` })
  for (const pattern of unportableOrigins(config.server.cors)) {
    const message = `${JSON.stringify(pattern)} has syntax that the proxy cannot evaluate: error responses of the proxy, the state service and GraphQL do not allow origins that match this pattern`
    warnings.push({ file: configFiles.server, path: 'cors', message })
  }
  const database = renderLibpq(config.connections.sqldb.ssl, operatorFiles.texts)
  const others = renderOthers({ resolved, secrets, config, databaseParameters: database.parameters })
  return { files: [...files, ...database.files, ...others], warnings }
}

/** A problem for each namespace whose path the proxy does not pass on to the api. */
function refuseTakenPaths({ values, profiles }: Resolved, server: AppConfig['server']): ConfigProblem[] {
  const configuration = renderNginx(values, server, profiles.includes('graphql'))
  return server.namespaces.flatMap(({ path, aliases }, at) =>
    [path, ...aliases].flatMap((each, index) => {
      if (!takesPath(configuration, each)) return []
      const key = index === 0 ? ['path'] : ['aliases', index - 1]
      return {
        file: configFiles.server,
        path: formatPath(['namespaces', at, ...key]),
        found: JSON.stringify(each),
        allowed: 'another path, because the proxy of the appliance does not pass this path on to the api',
      }
    }),
  )
}

function warnAboutVariables(values: Values, given: Resolved['given']): ConfigWarning[] {
  const warnings: ConfigWarning[] = []
  if (values.TRUSTED_PROXIES.split(',').some((network) => network.endsWith('/0'))) {
    const message =
      'a network that ends in /0 makes every client a trusted proxy, so every client can forge its address'
    warnings.push({ file: 'environment', path: 'TRUSTED_PROXIES', message })
  }
  if (values.TLS_MODE === 'acme' && values.HTTP_PORT !== ACME_PORT && given.ACME_DIRECTORY === undefined) {
    const message = `the ACME authority connects to port ${ACME_PORT} of DOMAIN: forward port ${ACME_PORT} to HTTP_PORT, or set HTTP_PORT=${ACME_PORT}`
    warnings.push({ file: 'environment', path: 'HTTP_PORT', message })
  }
  for (const [name, isBundled, host, bundled] of [
    ['POSTGRES_BUNDLED', values.POSTGRES_BUNDLED, values.POSTGRES_HOST, BUNDLED_POSTGRES],
    ['REDIS_BUNDLED', values.REDIS_BUNDLED, values.REDIS_HOST, BUNDLED_REDIS],
  ] as const) {
    if (!isBundled || host === bundled) continue
    const message = `the bundled server starts, but nothing uses it, because another host is set; ${name}=false leaves the bundled server out`
    warnings.push({ file: 'environment', path: name, message })
  }
  const shown = ['SQLDB_PASSWORD', 'POSTGRES_PASSWORD', 'KVSTORE_PASSWORD', 'REDIS_PASSWORD']
  for (const path of shown.filter((name) => given[name] !== undefined)) {
    warnings.push({
      file: 'environment',
      path,
      message:
        '`docker inspect` shows this password, and rotate-secrets does not replace it; use a password file',
    })
  }
  return warnings
}

/** Warns if the api does not trust the proxy: the api then takes the IP address of the proxy for every client. */
function warnAboutClients({ server }: AppConfig, own: OwnFiles): ConfigWarning[] {
  if (server.trust_proxy !== false) return []
  const [file, path] = own.texts.has('server')
    ? [configFiles.server, 'trust_proxy']
    : ['environment', 'SERVER_TRUST_PROXY']
  const message =
    'with the value false, the api takes the address of the proxy for the address of each client, so all clients share one rate limit; with the value 1, the api trusts the proxy of the appliance'
  return [{ file, path, message }]
}

/** Everything from which the files for PostgreSQL, Redis, Hasura, the proxy and monitoring are rendered. */
interface Plan {
  readonly resolved: Resolved
  readonly secrets: Secrets
  /** The configuration of the services of the project. */
  readonly config: AppConfig
  /** Query string of a PostgreSQL URL that sets the encryption; empty without encryption. */
  readonly databaseParameters: string
}

/** Host and port at which a container probe sends its request. */
function listenerOf(address: string, port: number): string {
  const isEverywhere = ['0.0.0.0', '::', 'localhost'].includes(address)
  return `${isEverywhere ? '127.0.0.1' : address} ${port}\n`
}

function renderOthers({ resolved, secrets, config, databaseParameters }: Plan): RenderedFile[] {
  const { values, profiles } = resolved
  const { server } = config
  const reader = config.readers[0]!
  const host = values.POSTGRES_HOST
  const database = `${isIPv6(host) ? `[${host}]` : host}:${values.POSTGRES_PORT}`
  const hasura = [
    ...(databaseParameters.includes('sslkey') ? [PRIVATE_KEY_COMMAND] : []),
    `HASURA_GRAPHQL_ADMIN_SECRET='${secrets.hasura_admin}'`,
    `HASURA_GRAPHQL_METADATA_DATABASE_URL='postgres://pronghorn_hasura:${secrets.hasura}@${database}/pronghorn_hasura${databaseParameters}'`,
    `PRONGHORN_DATABASE_URL='postgres://pronghorn_graphql:${secrets.graphql}@${database}/${values.POSTGRES_DATABASE}${databaseParameters}'`,
    `HASURA_GRAPHQL_ENABLE_CONSOLE='${String(values.GRAPHQL_CONSOLE)}'`,
    `HASURA_GRAPHQL_UNAUTHORIZED_ROLE='reader'`,
    '',
  ].join('\n')
  return [
    {
      service: 'filler',
      name: 'listener',
      text: listenerOf(reader.server_addr, reader.server_port),
      mode: 0o440,
    },
    {
      service: 'api',
      name: 'listener',
      text: listenerOf(server.server_addr, server.server_port),
      mode: 0o440,
    },
    {
      service: 'nginx',
      name: 'nginx.conf',
      text: renderNginx(values, server, profiles.includes('graphql')),
      mode: 0o444,
    },
    {
      service: 'postgres',
      name: 'postgresql.conf',
      text: fillTemplate(
        'postgresql.conf',
        computePostgresSettings(
          values.PG_MEMORY,
          Math.min(MOST_CONNECTIONS, countConnections(resolved, server)),
        ),
      ),
      mode: 0o444,
    },
    { service: 'postgres', name: 'pg_hba.conf', text: fillTemplate('pg_hba.conf', {}), mode: 0o444 },
    { service: 'postgres', name: 'superuser', text: secrets.superuser, mode: 0o444 },
    {
      service: 'redis',
      name: 'redis.conf',
      text: fillTemplate('redis.conf', {
        REDIS_PASSWORD: config.connections.kvstore?.password ?? secrets.redis,
      }),
      mode: 0o444,
    },
    renderPrometheus(listMetricsPorts(resolved, config)),
    { service: 'grafana', name: 'admin', text: secrets.grafana, mode: 0o444 },
    { service: 'hasura', name: 'environment', text: hasura, mode: 0o444 },
    { service: 'hasura', name: HASURA_SETTINGS, text: metadataSettings(values, secrets), mode: 0o440 },
  ]
}

/**
 * Maximum number of connections to PostgreSQL: the connections of all containers of the api and the state service, of
 * one further container of each of the two during a replacement, and of the other services. Without API_WORKERS the
 * number of workers is the number of this machine's cores. If the api runs on a machine with more cores, set
 * API_WORKERS.
 */
function countConnections(
  { values, given }: Resolved,
  { max_db_connections: most }: AppConfig['server'],
): number {
  // Count the machine's processors with `cpus`: `availableParallelism` may leave out processors that a limit of this
  // container excludes.
  const workers = values.API_WORKERS || cpus().length
  const container = Math.max(most, workers) + workers * OWN_CONNECTIONS + 1
  const { databaseConnections } = readStateSettings(given).settings
  return (values.API_REPLICAS + 1) * container + 2 * databaseConnections + OTHER_CONNECTIONS
}

/** Refuses more connections than the bundled PostgreSQL takes. */
function refuseConnections(resolved: Resolved, server: AppConfig['server'], own: OwnFiles): ConfigProblem[] {
  const { values } = resolved
  const count = countConnections(resolved, server)
  if (count <= MOST_CONNECTIONS || values.POSTGRES_HOST !== BUNDLED_POSTGRES) return []
  const isOwn = own.texts.has('server')
  return [
    {
      file: isOwn ? configFiles.server : 'environment',
      path: isOwn ? 'max_db_connections' : 'MAX_DB_CONNECTIONS',
      found: `${server.max_db_connections} connections for each of ${values.API_REPLICAS + 1} api containers; with the connections of the other services, ${count} in total`,
      allowed: `at most ${MOST_CONNECTIONS} connections in total, because the bundled PostgreSQL accepts no more`,
    },
  ]
}

/** File with the settings of the one-shot container that applies Hasura's metadata. */
const HASURA_SETTINGS = 'metadata.json'

function metadataSettings(values: Values, secrets: Secrets): string {
  return `${JSON.stringify({ adminSecret: secrets.hasura_admin, rowLimit: values.GRAPHQL_ROW_LIMIT })}\n`
}

/**
 * Reads the settings of the one-shot container that applies Hasura's metadata.
 * @throws FatalError `CONFIG_INVALID` if the file is missing.
 */
export async function readHasuraSettings(out: string): Promise<{ adminSecret: string; rowLimit: number }> {
  const path = join(out, 'hasura', HASURA_SETTINGS)
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new FatalError('CONFIG_INVALID', `${path} cannot be read: run render-config first`, { cause })
  })
  return z.strictObject({ adminSecret: z.string(), rowLimit: z.int().min(1) }).parse(JSON.parse(text))
}

function report(
  { values, isDemo }: Resolved,
  secretsCreated: readonly SecretName[],
  certificateCreated: boolean,
  warnings: readonly ConfigWarning[],
): RenderReport {
  const hints: string[] = []
  const half = Math.floor(totalmem() / 2 ** 31)
  if (!isDemo && values.POSTGRES_HOST === BUNDLED_POSTGRES && half * 2 ** 30 > values.PG_MEMORY * 2) {
    hints.push(`this machine has ${half * 2} GiB: PG_MEMORY=${half}g would let PostgreSQL use half of it`)
  }
  return { isDemo, chain: values.CHAIN_NAME, secretsCreated, certificateCreated, warnings, hints }
}
