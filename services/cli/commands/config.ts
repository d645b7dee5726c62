import { Option } from 'commander'
import type { Command } from 'commander'
import { configFiles, redactConfig } from '../../core/config/index.ts'
import { findMisspelledVariables } from '../../core/config/environment/index.ts'
import { listUnusedSettings } from '../../core/config/description/index.ts'
import type { ConfigPart, ConfigWarning } from '../../core/config/index.ts'
import type { CliIo } from '../io.ts'
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
  return new Option('--for <process>', 'whose files have to be there')
    .choices(Object.keys(neededParts))
    .default('all')
}

/** `pronghorn config check` and `pronghorn config print`. */
export function addConfig(program: Command, io: CliIo): void {
  const config = program
    .command('config')
    .summary('check or print the configuration')
    .description('Reads the configuration files and the environment as the processes do. Nothing is started.')
    .helpGroup(CARE_GROUP)
  config
    .command('check')
    .description('Lists every problem at once, with file, place, what was found and what is allowed.')
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
    .description('Prints the configuration as it takes effect, every default filled in, secrets replaced.')
    .addOption(configOption())
    .addOption(forOption())
    .action((flags: ConfigFlags) => {
      const { config: loaded } = loadSettings(io, flags, neededParts[flags.for])
      io.out(`${JSON.stringify(redactConfig(loaded), null, 2)}\n`)
    })
}

function formatWarning({ file, path, message }: ConfigWarning): string {
  return `warning: ${[file, path].filter((part) => part !== '').join(': ')}: ${message}`
}
