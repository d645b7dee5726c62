import { Option } from 'commander'
import type { Command } from 'commander'
import { ConfigError, configFiles, redactConfig } from '../../core/config/index.ts'
import { findMisspelledVariables, readStateSettings } from '../../core/config/environment/index.ts'
import { listUnusedSettings } from '../../core/config/description/index.ts'
import type { ConfigPart, ConfigWarning } from '../../core/config/index.ts'
import { FatalError } from '../../core/errors/index.ts'
import { askAddress } from '../ask-address.ts'
import type { CliIo } from '../io.ts'
import { localUrl } from '../local-url.ts'
import { loadSettings } from '../settings.ts'
import type { ConfigOption } from '../settings.ts'
import { CARE_GROUP, configOption } from './groups.ts'

type Process = 'all' | 'filler' | 'api'

interface ConfigFlags extends ConfigOption {
  readonly for: Process
}

const neededParts: Readonly<Record<Process, readonly ConfigPart[]>> = {
  all: ['connections', 'server', 'readers'],
  filler: ['connections', 'readers'],
  api: ['connections', 'server'],
}

function forOption(): Option {
  return new Option('--for <process>', 'process whose files must exist')
    .choices(Object.keys(neededParts))
    .default('all')
}

/** Adds the commands `pronghorn config check`, `pronghorn config print` and `pronghorn config show`. */
export function addConfig(program: Command, io: CliIo): void {
  const config = program
    .command('config')
    .summary('check, print or show the configuration')
    .description(
      'Reads the configuration files and the environment as the processes do, or requests the configuration of a running process. Nothing is started.',
    )
    .helpGroup(CARE_GROUP)
  config
    .command('check')
    .description(
      'Lists every problem at once, each with file, location, the value found and the allowed values.',
    )
    .addOption(configOption())
    .addOption(forOption())
    .action((flags: ConfigFlags) => {
      const loaded = loadSettings(io, flags, neededParts[flags.for])
      const warnings = [
        ...loaded.warnings,
        ...listUnusedSettings(loaded.config).map(({ part, key, why }) => ({
          file: configFiles[part],
          path: key,
          message: `has no effect: ${why}`,
        })),
        ...findMisspelledVariables(io.env),
      ]
      for (const warning of warnings) io.err(`${formatWarning(warning)}\n`)
      const count = warnings.length === 0 ? '' : ` (warnings: ${warnings.length})`
      io.out(`The configuration is valid${count}.\n`)
    })
  config
    .command('print')
    .description('Prints the effective configuration with all defaults and without secrets.')
    .addOption(configOption())
    .addOption(forOption())
    .action((flags: ConfigFlags) => {
      const { config: loaded } = loadSettings(io, flags, neededParts[flags.for])
      io.out(`${JSON.stringify(redactConfig(loaded), null, 2)}\n`)
    })
  config
    .command('show')
    .description('Prints the configuration of a running process on this machine, without secrets.')
    .addOption(configOption())
    .addOption(
      new Option('--of <process>', 'process whose configuration is printed')
        .choices(['filler', 'api', 'state'])
        .makeOptionMandatory(),
    )
    .action(async (flags: ShowFlags) => {
      io.out(`${JSON.stringify(await askConfig(listenerOf(io, flags)), null, 2)}\n`)
    })
}

const SHOW_TIMEOUT_MS = 10_000

interface ShowFlags extends ConfigOption {
  readonly of: 'filler' | 'api' | 'state'
}

/** Host and port at which a process of this machine serves its metrics and its configuration. */
function listenerOf(io: CliIo, flags: ShowFlags): { readonly address: string; readonly port: number } {
  if (flags.of === 'state') {
    const { settings, problems } = readStateSettings(io.env)
    if (problems.length > 0) throw new ConfigError(problems)
    if (settings.metricsPort === 0) throw new FatalError('USAGE', 'STATE_METRICS_PORT is not set')
    return { address: settings.address, port: settings.metricsPort }
  }
  if (flags.of === 'filler') {
    const [reader] = loadSettings(io, flags, ['readers']).config.readers
    return { address: reader!.server_addr, port: reader!.server_port }
  }
  const { server } = loadSettings(io, flags, ['server']).config
  if (server.metrics_port === undefined) throw new FatalError('USAGE', 'metrics_port is not set')
  return { address: server.metrics_addr ?? server.server_addr, port: server.metrics_port }
}

/** Requests the configuration of a running process over HTTP. @throws FatalError `UNHEALTHY`, `SERVICE_REFUSED`. */
async function askConfig({
  address,
  port,
}: {
  readonly address: string
  readonly port: number
}): Promise<unknown> {
  const url = localUrl(address, port, '/config')
  const text = await askAddress(url, SHOW_TIMEOUT_MS)
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new FatalError('UNHEALTHY', `${url} does not answer with JSON`, { cause })
  }
}

function formatWarning({ file, path, message }: ConfigWarning): string {
  return `warning: ${[file, path].filter((part) => part !== '').join(': ')}: ${message}`
}
