import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { configFiles, ConfigError, parseConfig } from '../../core/config/index.ts'
import type { ConfigPart, ConfigProblem, ConfigWarning } from '../../core/config/index.ts'
import type { Environment } from '../../core/config/environment/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import { checkCertificateFiles, ensureSelfSigned } from '../tls/index.ts'
import { renderNginx } from './nginx.ts'
import { computePostgresSettings } from './postgres.ts'
import { resolveVariables } from './resolve.ts'
import type { Resolved, Values } from './resolve.ts'
import { ensureSecrets, secretNames } from './secrets.ts'
import { checkSuperuserPassword, readSuperuserPassword } from './superuser.ts'
import type { SecretName, Secrets } from './secrets.ts'
import { escapeJson, fillTemplate } from './template.ts'
import type { Placeholders } from './template.ts'
import { BUNDLED_POSTGRES, splitList } from './variables.ts'

/** Where `render` puts things, and where it finds the operator's files. */
export interface RenderPlaces {
  /** Each service gets its own folder here, and only its own. */
  readonly out: string
  /** The operator's certificate, when `TLS_MODE` is `files`. */
  readonly certificateFiles: string
  /** Where `POSTGRES_SUPERUSER_PASSWORD_FILE` is mounted; undefined: at its own path. */
  readonly superuserPasswordFile?: string | undefined
}

/** What rendering did. */
export interface RenderReport {
  readonly isDemo: boolean
  readonly chain: string
  readonly secretsCreated: readonly SecretName[]
  readonly certificateCreated: boolean
  readonly warnings: readonly ConfigWarning[]
  /** Hints for the operator. */
  readonly hints: readonly string[]
}

/** Services that get the three JSON files, each with the role that it logs in with. */
const services = ['filler', 'api', 'state'] as const
type Service = (typeof services)[number]

/** Connections of the filler, the state service, Hasura, migrations and people. */
const OTHER_CONNECTIONS = 60
/** Each process of the api reads the feed on one connection and looks at the database on another; both may take more for moments. */
const OWN_CONNECTIONS = 2
/** The container of PostgreSQL has no room for more processes; the limit of the server is 262143. */
const MOST_CONNECTIONS = 8_000

/**
 * Checks the environment and everything that would be rendered from it; writes nothing.
 * @throws ConfigError with every problem, each naming its variable or key.
 */
export async function checkRender(environment: Environment, places: RenderPlaces): Promise<RenderReport> {
  const resolved = resolveVariables(environment)
  const placeholder = Object.fromEntries(Object.keys(secretNames).map((name) => [name, 'secret']))
  const { warnings } = await prepare(resolved, placeholder as Record<SecretName, string>, places)
  return report(resolved, [], false, warnings)
}

/**
 * Renders every file of the appliance. Secrets and certificates that are there stay as they are.
 * @throws ConfigError with every problem; nothing is written then.
 */
export async function render(environment: Environment, places: RenderPlaces): Promise<RenderReport> {
  await checkRender(environment, places)
  const resolved = resolveVariables(environment)
  const { values } = resolved
  const passwordFile = superuserPasswordFile(values, places)
  const { secrets, made } = await ensureSecrets(
    join(places.out, 'secrets'),
    passwordFile === undefined ? {} : { superuser: await readSuperuserPassword(passwordFile) },
  )
  const { files, warnings } = await prepare(resolved, secrets, places)
  for (const file of files) await install(places.out, file)
  const certificates = join(places.out, 'certificates')
  let certificateCreated = false
  if (values.TLS_MODE === 'selfsigned') {
    certificateCreated = await ensureSelfSigned(certificates, values.DOMAIN)
  } else if (values.TLS_MODE === 'acme') {
    // Until an authority has answered, the proxy needs something to start with.
    certificateCreated = await ensureSelfSigned(certificates, values.DOMAIN, 0)
  }
  return report(resolved, made, certificateCreated, warnings)
}

function superuserPasswordFile(values: Values, places: RenderPlaces): string | undefined {
  const own = values.POSTGRES_SUPERUSER_PASSWORD_FILE
  return own === '' ? undefined : (places.superuserPasswordFile ?? own)
}

interface RenderedFile {
  /** Folder of the service. */
  readonly service: string
  readonly name: string
  readonly text: string
  /** The service runs as another user, and no other service mounts its folder. */
  readonly mode: number
}

async function install(out: string, file: RenderedFile): Promise<void> {
  const dir = join(out, file.service)
  await mkdir(dir, { recursive: true })
  const path = join(dir, file.name)
  await writeFile(`${path}.new`, file.text, { mode: file.mode })
  await rename(`${path}.new`, path)
}

async function prepare(
  { values, profiles }: Resolved,
  secrets: Secrets,
  places: RenderPlaces,
): Promise<{ files: RenderedFile[]; warnings: readonly ConfigWarning[] }> {
  const problems: ConfigProblem[] = []
  if (values.POSTGRES_HOST === BUNDLED_POSTGRES && values.PG_MEMORY > totalmem()) {
    const found = `${Math.floor(values.PG_MEMORY / 2 ** 20)} MiB`
    const allowed = `at most what this machine has, ${Math.floor(totalmem() / 2 ** 20)} MiB`
    problems.push({ file: 'environment', path: 'PG_MEMORY', found, allowed })
  }
  if (values.TLS_MODE === 'files') {
    problems.push(...(await checkCertificateFiles(places.certificateFiles, values.TLS_DIR)))
  }
  const passwordFile = superuserPasswordFile(values, places)
  if (passwordFile !== undefined) {
    const shown = values.POSTGRES_SUPERUSER_PASSWORD_FILE
    problems.push(...(await checkSuperuserPassword(passwordFile, shown)))
  }
  const files: RenderedFile[] = []
  let warnings: ConfigWarning[] = []
  for (const service of services) {
    const json = renderJson(values, secrets, service)
    try {
      warnings = [...parseConfig(json).warnings]
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      if (service === services[0]) problems.push(...error.problems)
    }
    for (const part of Object.keys(json) as ConfigPart[]) {
      const text = `${JSON.stringify(json[part], null, 2)}\n`
      files.push({ service, name: configFiles[part], text, mode: 0o440 })
    }
    files.push({ service, name: 'database-password', text: secrets[service], mode: 0o440 })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  if (values.TRUSTED_PROXIES.split(',').some((network) => network.endsWith('/0'))) {
    const message = 'every client counts as a proxy, and can write any address as its own'
    warnings.push({ file: 'environment', path: 'TRUSTED_PROXIES', message })
  }
  return { files: [...files, ...renderOthers(values, secrets, profiles)], warnings }
}

function renderOthers(values: Values, secrets: Secrets, profiles: readonly string[]): RenderedFile[] {
  const host = values.POSTGRES_HOST
  const database = `${isIPv6(host) ? `[${host}]` : host}:${values.POSTGRES_PORT}`
  const hasura = [
    `HASURA_GRAPHQL_ADMIN_SECRET='${secrets.hasura_admin}'`,
    `HASURA_GRAPHQL_METADATA_DATABASE_URL='postgres://pronghorn_hasura:${secrets.hasura}@${database}/pronghorn_hasura'`,
    `PRONGHORN_DATABASE_URL='postgres://pronghorn_graphql:${secrets.graphql}@${database}/${values.POSTGRES_DATABASE}'`,
    `HASURA_GRAPHQL_ENABLE_CONSOLE='${String(values.GRAPHQL_CONSOLE)}'`,
    `HASURA_GRAPHQL_UNAUTHORIZED_ROLE='reader'`,
    '',
  ].join('\n')
  return [
    {
      service: 'nginx',
      name: 'nginx.conf',
      text: renderNginx(values, profiles.includes('graphql')),
      mode: 0o444,
    },
    {
      service: 'postgres',
      name: 'postgresql.conf',
      text: fillTemplate(
        'postgresql.conf',
        computePostgresSettings(values.PG_MEMORY, countConnections(values)),
      ),
      mode: 0o444,
    },
    { service: 'postgres', name: 'pg_hba.conf', text: fillTemplate('pg_hba.conf', {}), mode: 0o444 },
    { service: 'postgres', name: 'superuser', text: secrets.superuser, mode: 0o444 },
    {
      service: 'redis',
      name: 'redis.conf',
      text: fillTemplate('redis.conf', { REDIS_PASSWORD: secrets.redis }),
      mode: 0o444,
    },
    { service: 'hasura', name: 'environment', text: hasura, mode: 0o444 },
    { service: 'hasura', name: HASURA_SETTINGS, text: metadataSettings(values, secrets), mode: 0o440 },
  ]
}

/**
 * Most connections to PostgreSQL: those of each container of the api, of one more while they are replaced, and others.
 * Without API_WORKERS the cores of this machine count: where the api runs on one with more, API_WORKERS has to be set.
 */
function countConnections(values: Values): number {
  // Containers may be held to fewer processors than the machine has; `availableParallelism` may count those alone.
  const workers = values.API_WORKERS || cpus().length
  const container = Math.max(values.MAX_DB_CONNECTIONS, workers) + workers * OWN_CONNECTIONS + 1
  return Math.min(MOST_CONNECTIONS, (values.API_REPLICAS + 1) * container + OTHER_CONNECTIONS)
}

/** What the one-shot that gives Hasura its metadata has to know. */
const HASURA_SETTINGS = 'metadata.json'

function metadataSettings(values: Values, secrets: Secrets): string {
  return `${JSON.stringify({ adminSecret: secrets.hasura_admin, rowLimit: values.GRAPHQL_ROW_LIMIT })}\n`
}

/**
 * Reads what `render` left for the one-shot that gives Hasura its metadata.
 * @throws FatalError `CONFIG_INVALID` where it is not there.
 */
export async function readHasuraSettings(out: string): Promise<{ adminSecret: string; rowLimit: number }> {
  const path = join(out, 'hasura', HASURA_SETTINGS)
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new FatalError('CONFIG_INVALID', `${path} cannot be read: run render-config first`, { cause })
  })
  return z.strictObject({ adminSecret: z.string(), rowLimit: z.int().min(1) }).parse(JSON.parse(text))
}

/** The three JSON files as one service gets them. Families without an account are left out. */
function renderJson(values: Values, secrets: Secrets, service: Service): Record<ConfigPart, unknown> {
  const placeholders: Placeholders = {
    ...(values as unknown as Placeholders),
    POSTGRES_USER: `pronghorn_${service}`,
    POSTGRES_PASSWORD: secrets[service],
    REDIS_PASSWORD: secrets.redis,
    REPLICAS: JSON.stringify(listReplicas(values.POSTGRES_REPLICAS)),
    CHAIN_SHIP: JSON.stringify(shipOf(values.CHAIN_SHIP)),
  }
  const fill = (part: ConfigPart): unknown => {
    // What is already JSON must not be escaped again.
    const escape = (text: string, variable: string): string =>
      variable === 'REPLICAS' || variable === 'CHAIN_SHIP' ? text : escapeJson(text)
    return JSON.parse(fillTemplate(configFiles[part], placeholders, escape)) as unknown
  }
  return {
    connections: fill('connections'),
    server: withTlsProxy(values, withoutUnusedNamespaces(fill('server'))),
    readers: withoutUnusedHandlers(fill('readers')),
  }
}

function listReplicas(text: string): { host: string; port: number }[] {
  return text
    .split(',')
    .filter((each) => each !== '')
    .map((each) => {
      const [host = '', port = '5432'] = each.split(':')
      return { host, port: Number(port) }
    })
}

/** The account that stands for a family that the operator left out. */
const NONE = 'none'

interface Named {
  readonly args: Readonly<Record<string, unknown>>
}

/** Without TLS there is no certificate to watch. */
function withTlsProxy({ TLS_MODE: mode }: Values, server: unknown): unknown {
  return mode === 'off' ? { ...(server as object), tls_proxy: undefined } : server
}

function withoutUnusedNamespaces(server: unknown): unknown {
  const { namespaces, ...rest } = server as { namespaces: (Named & { name: string })[] }
  return { ...rest, namespaces: namespaces.filter(({ name, args }) => args[`${name}_account`] !== NONE) }
}

function withoutUnusedHandlers(readers: unknown): unknown {
  return (readers as { contracts: (Named & { handler: string })[] }[]).map((reader) => ({
    ...reader,
    contracts: reader.contracts.filter(({ handler, args }) => args[`${handler}_account`] !== NONE),
  }))
}

function report(
  { values, isDemo }: Resolved,
  secretsCreated: readonly SecretName[],
  certificateCreated: boolean,
  warnings: readonly ConfigWarning[],
): RenderReport {
  const hints: string[] = []
  const half = Math.floor(totalmem() / 2 ** 31)
  if (!isDemo && half * 2 ** 30 > values.PG_MEMORY * 2) {
    hints.push(`this machine has ${half * 2} GiB: PG_MEMORY=${half}g would let PostgreSQL use half of it`)
  }
  return { isDemo, chain: values.CHAIN_NAME, secretsCreated, certificateCreated, warnings, hints }
}

function shipOf(text: string): string | string[] {
  const addresses = splitList(text)
  return addresses.length === 1 ? addresses[0]! : addresses
}
