import type { Command } from 'commander'
import type { CliIo } from '../io.ts'
import { prepareProcess, readWorkerCount } from '../settings.ts'
import type { ConfigOption } from '../settings.ts'
import { configOption, RUN_GROUP } from './groups.ts'

export function addApi(program: Command, io: CliIo): void {
  program
    .command('api')
    .summary('serve the database over REST')
    .description('Serves a REST API over the data that the filler has written. Runs until it is stopped.')
    .helpGroup(RUN_GROUP)
    .addOption(configOption())
    .action(async (options: ConfigOption) => {
      const { config, logger } = prepareProcess(io, options, 'api', ['connections', 'server'])
      const { runApi } = await import('../../api/index.ts')
      const workers = readWorkerCount(io)
      await runApi({ config, logger, signal: io.signal, workers, pretty: io.isTerminal })
    })
}
