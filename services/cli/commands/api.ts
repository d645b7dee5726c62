import type { Command } from 'commander'
import { untilStopped } from '../io.ts'
import type { CliIo } from '../io.ts'
import { prepareProcess } from '../settings.ts'
import type { ConfigOption } from '../settings.ts'
import { configOption, runGroup } from './groups.ts'

/** `pronghorn api`. */
export function addApi(program: Command, io: CliIo): void {
  program
    .command('api')
    .summary('serve the database over REST')
    .description('Serves what the filler has written over REST, until it is stopped.')
    .helpGroup(runGroup)
    .addOption(configOption())
    .action(async (options: ConfigOption) => {
      const { config, logger } = prepareProcess(io, options, 'api', ['connections', 'server'])
      const { startApi } = await import('../../api/index.ts')
      const stopped = untilStopped(io.signal)
      // Starting may wait for a database that comes up later; whoever stops the process does not wait for that.
      const running = await Promise.race([startApi({ config, logger }), stopped])
      if (!running) return
      await stopped
      await running.close()
    })
}
