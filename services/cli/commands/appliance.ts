import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import type { checkRender, readVariables } from '../../appliance/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import { wholeNumber } from '../arguments.ts'
import { askAddress, checkHttpUrl } from '../ask-address.ts'
import { withDatabase } from '../database.ts'
import type { CliIo } from '../io.ts'
import { localUrl } from '../local-url.ts'
import { readRenderedConnections } from '../rendered-connections.ts'
import { loadSettings, openLogger } from '../settings.ts'
import type { ConfigOption } from '../settings.ts'
import { APPLIANCE_GROUP, CARE_GROUP, configOption } from './groups.ts'
import { nowOption, replaceSigningKey } from './keys.ts'
import type { NowFlag } from './keys.ts'

interface RenderFlags {
  readonly out: string
  readonly certificateFiles: string
  readonly envFile?: string
  readonly check?: true
  readonly orFormer?: true
}

export function addRenderConfig(program: Command, io: CliIo): void {
  program
    .command('render-config')
    .summary("generate the appliance's configuration files from the environment")
    .description(
      'Generates the three JSON files of each service and the configuration of nginx, PostgreSQL and Redis from the environment. Creates missing secrets. Refuses an environment with which a service would not start, and lists every problem.',
    )
    .helpGroup(APPLIANCE_GROUP)
    .option(
      '--out <folder>',
      'folder for the generated files; each service has a folder in this folder',
      '/rendered',
    )
    .option(
      '--certificate-files <folder>',
      'folder of your own certificate, for TLS_MODE=files',
      './certificates',
    )
    .option(
      '--env-file <file>',
      'file .env to read; variables of the environment take precedence, and unknown variables are refused',
    )
    .option('--check', 'write nothing; list the problems')
    .option(
      '--or-former',
      'if settings are refused, leave the files of an earlier run in use; fail only if these files cannot be used',
    )
    .action(async (flags: RenderFlags) => {
      const { checkRender, renderOrKeep } = await import('../../appliance/index.ts')
      const places = placesOf(flags)
      if (flags.check) return io.out(describeReport(await checkRender(io.env, places), true))
      const report = await renderOrKeep(io.env, places)
      if (!('refused' in report)) return io.out(describeReport(report, false))
      if (!flags.orFormer) throw report.refused
      if (report.whyNotFormer !== undefined) {
        io.err(`Nothing starts: ${report.whyNotFormer}.\n`)
        throw report.refused
      }
      io.err(`${report.refused.message}\n${FORMER_STAYS}\n`)
    })
}

/** Printed if refused settings leave the running services unchanged; scripts/common.sh searches for this text. */
const FORMER_STAYS =
  'The former configuration stays in use, and nothing was written. Correct .env and run scripts/apply.'

/**
 * Folder at which the compose file mounts the operator's files; each file is named after the variable with
 * its path.
 */
const MOUNTED = '/pronghorn/operator'
/** Folder at which the compose file mounts the project folder. */
const MOUNTED_PROJECT = '/pronghorn/project'

const ifThere = (path: string): string | undefined => (existsSync(path) ? path : undefined)

function placesOf({
  out,
  certificateFiles,
  envFile,
}: Omit<RenderFlags, 'check'>): Parameters<typeof checkRender>[1] {
  return {
    out,
    certificateFiles: ifThere(join(MOUNTED_PROJECT, 'certificates')) ?? certificateFiles,
    mounted: ifThere(MOUNTED),
    project: ifEntered(MOUNTED_PROJECT),
    envFile: envFile ?? ifThere(join(MOUNTED_PROJECT, '.env')),
  }
}

/**
 * Returns `folder`; undefined if the user of this process may not enter `folder`, so that its files are not checked.
 */
function ifEntered(folder: string): string | undefined {
  try {
    accessSync(folder, constants.X_OK)
    return folder
  } catch {
    return undefined
  }
}

/**
 * Reads the variables of the appliance, and the operator's files whose paths are in these variables.
 * @throws ConfigError that lists the missing variables.
 */
async function readOwnVariables(io: CliIo, needed: Parameters<typeof readVariables>[2]) {
  const { readVariables } = await import('../../appliance/index.ts')
  return readVariables(io.env, { mounted: ifThere(MOUNTED) }, needed)
}

interface CheckFlags {
  readonly mounted: string
  readonly project: string
  readonly listPaths?: true
}

export function addCheckEnv(program: Command, io: CliIo): void {
  program
    .command('check-env')
    .summary("check an operator's environment and .env before Compose reads them; for scripts/check")
    .description(
      'Reads from standard input: the environment of the host (the output of `env -0`), an empty entry, and the text of .env. Lists every problem.',
    )
    .helpGroup(APPLIANCE_GROUP)
    .option(
      '--mounted <folder>',
      'folder at which the files and folders that variables name are mounted',
      MOUNTED,
    )
    .option('--project <folder>', 'folder at which the project folder is mounted', MOUNTED_PROJECT)
    .option('--list-paths', 'only list the variables that name a file or folder of the host')
    .action(async ({ mounted, project, listPaths }: CheckFlags) => {
      const { readHost } = await import('../../appliance/index.ts')
      const certificateFiles = join(project, 'certificates')
      const places = { certificateFiles, mounted, project: ifEntered(project) }
      const host = readHost(await text(process.stdin))
      if (!listPaths) return io.out(describeReport(await host.check(places), true))
      for (const { variable, path } of host.paths) io.out(`${variable}\t${path}\n`)
    })
}

function describeReport(report: Awaited<ReturnType<typeof checkRender>>, isCheck: boolean): string {
  const lines = [
    isCheck
      ? 'The settings are valid: the configuration can be rendered, and the services can start with it.'
      : 'The configuration is rendered.',
    report.isDemo
      ? 'Chain: the bundled DEMO CHAIN. Set CHAIN_ID, CHAIN_HTTP and CHAIN_SHIP to index a real one (see .env.example).'
      : `Chain: ${report.chain}.`,
  ]
  if (report.secretsCreated.length > 0) lines.push(`New secrets: ${report.secretsCreated.join(', ')}.`)
  if (report.certificateCreated) lines.push('New self-signed certificate.')
  for (const { file, path, message } of report.warnings) lines.push(`Warning: ${file}: ${path}: ${message}`)
  for (const hint of report.hints) lines.push(`Hint: ${hint}`)
  return `${lines.join('\n')}\n`
}

interface PrepareFlags {
  readonly rendered: string
  readonly wait: number
  readonly database?: string
  readonly withoutSchema?: true
}

export function addPrepareDatabase(program: Command, io: CliIo): void {
  program
    .command('prepare-database')
    .summary("create the appliance's roles, databases, schema and rights")
    .description(
      'Creates the roles of the services with the rendered passwords, the databases and the newest schema, and grants every role its rights. May be run again at any time.',
    )
    .helpGroup(APPLIANCE_GROUP)
    .option('--rendered <folder>', 'folder that render-config wrote', '/rendered')
    .option('--wait <seconds>', 'seconds to wait until PostgreSQL is ready', wholeNumber(0, 3_600), 60)
    .option(
      '--database <name>',
      'database to migrate instead of the configured one, for a trial of the migrations',
    )
    .option('--without-schema', 'create only the roles and databases, before a restore')
    .action(async (flags: PrepareFlags) => {
      const { prepareDatabase } = await import('../../appliance/index.ts')
      const { address, ...server } = await readServer(flags.rendered, io)
      await prepareDatabase({
        ...server,
        address: { ...address, database: flags.database ?? address.database },
        waitMs: flags.wait * 1_000,
        withoutSchema: flags.withoutSchema === true,
        say: io.out,
      })
    })
}

/** Host and port of the appliance's PostgreSQL server, the superuser, and the rendered passwords. */
async function readServer(rendered: string, io: CliIo) {
  const { ensureSecrets } = await import('../../appliance/index.ts')
  requireRendered(rendered, 'secrets')
  const { secrets, made } = await ensureSecrets(join(rendered, 'secrets'), {})
  if (made.length > 0)
    throw new FatalError(
      'CONFIG_INVALID',
      `${rendered}/secrets lacks ${made.join(', ')}: run render-config first`,
    )
  const { values } = await readOwnVariables(io, ['POSTGRES_SUPERUSER'])
  const { sqldb, chain } = readRenderedConnections(join(rendered, 'filler'))
  const { host, port, database, ssl } = sqldb
  const address = {
    ...{ host, port, database, ssl },
    user: values.POSTGRES_SUPERUSER,
    password: secrets.superuser,
  }
  return { address, chainId: chain.chain_id, secrets }
}

export function addSqlReader(program: Command, io: CliIo): void {
  program
    .command('sql-reader')
    .summary('create a database role that may only read the views, for SQL')
    .description(
      'Creates the role pronghorn_sql, which may only read the views of docs/sql.md. If the role exists, it gets a new password. Prints the address of the database with this password, which cannot be shown again.',
    )
    .helpGroup(APPLIANCE_GROUP)
    .option('--rendered <folder>', 'folder that render-config wrote', '/rendered')
    .action(async ({ rendered }: { readonly rendered: string }) => {
      const { createSqlReader } = await import('../../appliance/index.ts')
      io.out(`${await createSqlReader({ ...(await readServer(rendered, io)), waitMs: 0 })}\n`)
      io.err(
        'The address contains the password, which cannot be shown again: store the address where only its owner can read it.\n',
      )
    })
}

type RotateFlags = Omit<RenderFlags, 'out' | 'check'> &
  NowFlag & {
    readonly rendered: string
    readonly settle?: true
  }

export function addRotateSecrets(program: Command, io: CliIo): void {
  program
    .command('rotate-secrets')
    .summary("replace the appliance's passwords and the signing key of its tokens")
    .description(
      'Gives the database roles, Redis and Hasura new passwords, gives the state service a new signing key, and renders the files again. The services have to be restarted afterwards: scripts/rotate-secrets runs this command and restarts them.',
    )
    .helpGroup(APPLIANCE_GROUP)
    .option('--rendered <folder>', 'folder that render-config wrote', '/rendered')
    .option(
      '--certificate-files <folder>',
      'folder of your own certificate, for TLS_MODE=files',
      './certificates',
    )
    .option('--settle', 'make the new password the only one that Redis accepts, once all services use it')
    .addOption(nowOption())
    .action(async ({ rendered: out, settle, now, ...files }: RotateFlags) => {
      const { checkRender, ensureSecrets, renderOrKeep, rotateSecrets, settleRedisPassword } =
        await import('../../appliance/index.ts')
      requireRendered(out, 'secrets')
      const places = placesOf({ out, ...files })
      await checkRender(io.env, places)
      const { values } = await readOwnVariables(io, undefined)
      const redis = values.REDIS_BUNDLED ? { host: values.REDIS_HOST, port: values.REDIS_PORT } : null
      if (settle) {
        if (redis === null) return
        const { secrets } = await ensureSecrets(join(out, 'secrets'), {})
        const isSettled = await settleRedisPassword(redis, secrets.redis)
        io.out(
          isSettled
            ? 'The old passwords are no longer accepted.\n'
            : 'Redis did not accept the new password: restart Redis.\n',
        )
        return
      }
      const dir = join(out, 'secrets')
      const server = {
        host: values.POSTGRES_HOST,
        port: values.POSTGRES_PORT,
        ssl: readRenderedConnections(join(out, 'filler')).sqldb.ssl,
      }
      const rotated = await rotateSecrets({
        dir,
        address: { ...server, user: values.POSTGRES_SUPERUSER },
        redis,
        keepSuperuser: !values.POSTGRES_BUNDLED || values.POSTGRES_SUPERUSER_PASSWORD_FILE !== '',
      })
      const rendered = await renderOrKeep(io.env, places)
      if ('refused' in rendered) throw rendered.refused
      const { secrets } = await ensureSecrets(dir, {})
      const database = {
        ...server,
        user: 'pronghorn_state',
        password: secrets.state,
        database: values.POSTGRES_DATABASE,
      }
      await withDatabase(database, 'pronghorn-rotate', async (client) =>
        io.out(await replaceSigningKey(client, { now })),
      )
      io.out(
        `New secrets: ${rotated.join(', ')}. Services read them at a restart; scripts/rotate-secrets restarts the services.\n`,
      )
    })
}

/** Requires that render-config has written `part` of the folder. @throws FatalError `WRONG_MODE` if it has not. */
export function requireRendered(folder: string, part: string): void {
  const path = join(folder, part)
  if (!existsSync(path))
    throw new FatalError('WRONG_MODE', `there is no folder ${path} with the files of the containers`)
}

export function addCertificates(program: Command, io: CliIo): void {
  program
    .command('certificates')
    .summary('request a certificate from an ACME authority, and renew it')
    .description(
      'Checks the certificate twice a day until the command is stopped. The proxy loads a new certificate by itself.',
    )
    .helpGroup(APPLIANCE_GROUP)
    .option('--rendered <folder>', 'folder that render-config wrote', '/rendered')
    .action(async (flags: { readonly rendered: string }) => {
      const { keepCertificate } = await import('../../appliance/index.ts')
      const { values } = await readOwnVariables(io, ['ACME_DIRECTORY', 'ACME_EMAIL', 'DOMAIN'])
      const settings = {
        directory: values.ACME_DIRECTORY,
        email: values.ACME_EMAIL,
        domain: values.DOMAIN,
        certificates: join(flags.rendered, 'certificates'),
        challenges: join(flags.rendered, 'challenges'),
        account: join(flags.rendered, 'acme'),
      }
      await keepCertificate(settings, openLogger(io, 'certificates'), io.signal)
    })
}

export function addHasuraMetadata(program: Command, io: CliIo): void {
  program
    .command('hasura-metadata')
    .summary('give Hasura the tables, relationships and permissions of this version')
    .description('Replaces the metadata of Hasura. Hasura refuses inconsistent metadata.')
    .helpGroup(APPLIANCE_GROUP)
    .option('--url <url>', 'address of Hasura', 'http://hasura:8080')
    .option('--rendered <folder>', 'folder that render-config wrote', '/rendered')
    .option('--wait <seconds>', 'seconds to wait until Hasura is ready', wholeNumber(0, 3_600), 60)
    .action(async (flags: { readonly url: string; readonly rendered: string; readonly wait: number }) => {
      const { applyMetadata } = await import('../../appliance/index.ts')
      await applyMetadata({ ...flags, waitMs: flags.wait * 1_000 })
      io.out('Hasura has the metadata of this version.\n')
    })
}

interface SmokeFlags {
  readonly insecure?: true
  readonly apiKey?: string
  readonly account: string
  readonly wait: number
}

export function addSmokeTest(program: Command, io: CliIo): void {
  program
    .command('smoke-test')
    .summary('test a running appliance: one request for each service')
    .description('Prints one line for each check. Fails if a check has failed.')
    .helpGroup(APPLIANCE_GROUP)
    .argument('<url>', 'for example https://localhost:8443')
    .option('--insecure', 'accept any certificate')
    .option(
      '--api-key <key>',
      'API key of the state service: the test exchanges it for a token and reads an ABI',
    )
    .option('--account <name>', 'account whose ABI is requested', 'atomicassets')
    .option('--wait <seconds>', 'seconds to wait for an event on a socket', wholeNumber(1, 600), 30)
    .action(async (url: string, flags: SmokeFlags) => {
      checkHttpUrl(url)
      const { smokeTest } = await import('../../appliance/index.ts')
      const results = await smokeTest({
        url,
        insecure: flags.insecure === true,
        apiKey: flags.apiKey,
        account: flags.account,
        waitMs: flags.wait * 1_000,
        report: ({ name, outcome, note }) => io.out(`${outcome.padEnd(8)}${name.padEnd(34)}${note}\n`),
      })
      const failed = results.filter(({ outcome }) => outcome === 'failed')
      if (failed.length > 0)
        throw new FatalError(
          'UNHEALTHY',
          `${failed.length} of ${results.length} checks failed, listed above as failed`,
        )
    })
}

const PROBE_TIMEOUT_MS = 4_000

/** URL of a path at the api that the configuration describes. */
function urlOfApi(io: CliIo, flags: ConfigOption, path = '/health'): string {
  const { server } = loadSettings(io, flags, ['server']).config
  return localUrl(server.server_addr, server.server_port, path)
}

export function addProbe(program: Command, io: CliIo): void {
  program
    .command('probe')
    .summary('send one request to a URL; for health checks')
    .description(
      'Sends one request to an HTTP URL. Fails if no answer with a success status arrives within four seconds.',
    )
    .helpGroup(CARE_GROUP)
    .addOption(configOption())
    .argument(
      '[url]',
      'URL to request, such as http://127.0.0.1:9000/healthc; a path such as /healthc is requested from the configured api (default: /health)',
    )
    .action(async (given: string | undefined, flags: ConfigOption) => {
      const url = given === undefined || given.startsWith('/') ? urlOfApi(io, flags, given) : given
      checkHttpUrl(url)
      await askAddress(url, PROBE_TIMEOUT_MS)
    })
}
