import { join } from 'node:path'
import type { Command } from 'commander'
import type { RenderReport } from '../../appliance/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import { wholeNumber } from '../arguments.ts'
import type { CliIo } from '../io.ts'
import { applianceGroup } from './groups.ts'

interface RenderFlags {
  readonly out: string
  readonly certificateFiles: string
  readonly check?: true
}

/** `pronghorn render-config`. */
export function addRenderConfig(program: Command, io: CliIo): void {
  program
    .command('render-config')
    .summary("make the appliance's configuration files from the environment")
    .description(
      'Makes the three JSON files of each service and the configuration of nginx, PostgreSQL and Redis from the ' +
        'environment, and secrets that are not there yet. Refuses, with a list, what would not start.',
    )
    .helpGroup(applianceGroup)
    .option('--out <folder>', 'where each service has its folder', '/rendered')
    .option('--certificate-files <folder>', 'your own certificate, for TLS_MODE=files', './certificates')
    .option('--check', 'write nothing; list what is wrong')
    .action(async (flags: RenderFlags) => {
      const { checkRender, render } = await import('../../appliance/index.ts')
      const run = flags.check ? checkRender : render
      const report = await run(io.env, { out: flags.out, certificateFiles: flags.certificateFiles })
      io.out(describeReport(report, flags.check === true))
    })
}

function describeReport(report: RenderReport, isCheck: boolean): string {
  const lines = [
    isCheck ? 'The configuration can be rendered and started.' : 'The configuration is rendered.',
    report.isDemo
      ? 'Chain: the bundled DEMO CHAIN. Set CHAIN_ID, CHAIN_HTTP and CHAIN_SHIP to index a real one (see .env.example).'
      : `Chain: ${report.chain}.`,
  ]
  if (report.secretsMade.length > 0) lines.push(`New secrets: ${report.secretsMade.join(', ')}.`)
  if (report.certificateMade) lines.push('New self-signed certificate.')
  for (const { file, path, message } of report.warnings) lines.push(`Warning: ${file}: ${path}: ${message}`)
  for (const hint of report.hints) lines.push(`Hint: ${hint}`)
  return `${lines.join('\n')}\n`
}

interface PrepareFlags {
  readonly rendered: string
  readonly wait: number
  readonly withoutSchema?: true
}

/** `pronghorn prepare-database`. */
export function addPrepareDatabase(program: Command, io: CliIo): void {
  program
    .command('prepare-database')
    .summary("make the appliance's roles, databases, schema and rights")
    .description(
      'Creates the roles of the services with the rendered passwords, the databases and the newest schema, and gives ' +
        'every role its rights. May be run again at any time.',
    )
    .helpGroup(applianceGroup)
    .option('--rendered <folder>', 'what render-config has made', '/rendered')
    .option('--wait <seconds>', 'how long PostgreSQL may take to come up', wholeNumber(0, 3_600), 60)
    .option('--without-schema', 'roles and databases only, before a restore')
    .action(async (flags: PrepareFlags) => {
      const { ensureSecrets, prepareDatabase, resolveVariables } = await import('../../appliance/index.ts')
      const { values } = resolveVariables(io.env)
      const { secrets, made } = await ensureSecrets(join(flags.rendered, 'secrets'), {})
      if (made.length > 0) {
        throw new FatalError(
          'CONFIG_INVALID',
          `${flags.rendered}/secrets lacked ${made.join(', ')}: run render-config first`,
        )
      }
      await prepareDatabase({
        address: {
          host: values.POSTGRES_HOST,
          port: values.POSTGRES_PORT,
          user: values.POSTGRES_SUPERUSER,
          password: secrets.superuser,
          database: values.POSTGRES_DATABASE,
        },
        secrets,
        waitMs: flags.wait * 1_000,
        withoutSchema: flags.withoutSchema === true,
        say: io.out,
      })
    })
}

const PROBE_TIMEOUT_MS = 4_000

/** `pronghorn probe`. */
export function addProbe(program: Command): void {
  program
    .command('probe')
    .summary('ask an address; for health checks of containers')
    .description('Asks an HTTP address once, within four seconds. Fails unless the answer is a success.')
    .helpGroup(applianceGroup)
    .argument('<url>', 'for example http://127.0.0.1:9000/healthc')
    .action(async (url: string) => {
      const answer = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS), redirect: 'manual' })
      await answer.body?.cancel()
      if (!answer.ok) throw new FatalError('UNHEALTHY', `${url} answers ${answer.status}`)
    })
}
