import type { Command } from 'commander'
import { diskOfDatabase } from '../disk.ts'
import type { CliIo } from '../io.ts'
import { prepareProcess } from '../settings.ts'
import type { ConfigOption } from '../settings.ts'
import { configOption, RUN_GROUP } from './groups.ts'
import { chooseMode } from '../mode.ts'

interface FillerFlags extends ConfigOption {
  readonly stay?: true
  readonly disk?: string
}

export function addFiller(program: Command, io: CliIo): void {
  program
    .command('filler')
    .summary('read the chain into the database')
    .description(
      'Runs every configured reader, which reads the chain into the database. Runs until it is stopped.',
    )
    .helpGroup(RUN_GROUP)
    .addOption(configOption())
    .option(
      '--stay',
      'keep serving health and metrics after the last stop_block, until the process is stopped',
    )
    .option('--disk <folder>', 'a folder on the disk of the database, for the metrics of its free space')
    .action(async (options: FillerFlags) => {
      const { config, logger } = prepareProcess(io, options, 'filler', ['connections', 'readers'])
      const { runFiller } = await import('../../filler/index.ts')
      const stay = options.stay === true
      const disk = diskOfDatabase(io.env, options.disk)
      const mode = chooseMode(['filler'], io.env)
      await runFiller({ config, logger, signal: io.signal, pretty: io.isTerminal, mode, stay, disk })
    })
}
