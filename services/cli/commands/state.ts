import type { Command } from 'commander'
import { ConfigError } from '../../core/config/index.ts'
import { readStateSettings } from '../../core/config/environment/index.ts'
import { untilAborted } from '../../core/retry/index.ts'
import type { CliIo } from '../io.ts'
import { prepareProcess } from '../settings.ts'
import type { ConfigOption } from '../settings.ts'
import { configOption, RUN_GROUP } from './groups.ts'

export function addState(program: Command, io: CliIo): void {
  program
    .command('state')
    .summary('serve ABIs and stored rows by block, to holders of API keys')
    .description(
      'Exchanges API keys for tokens, and serves the ABI of every contract and the stored rows at any block. Runs until it is stopped. The variables STATE_* are its settings; see docs/state.md.',
    )
    .helpGroup(RUN_GROUP)
    .addOption(configOption())
    .action(async (options: ConfigOption) => {
      const { settings, problems } = readStateSettings(io.env)
      if (problems.length > 0) throw new ConfigError(problems)
      const { config, logger } = prepareProcess(io, options, 'state', ['connections'])
      const { startState } = await import('../../state/index.ts')
      const stopped = untilAborted(io.signal)
      const starting = startState({ connections: config.connections, settings, logger })
      // The start waits while the database is unavailable. A stop request ends this wait.
      const running = await Promise.race([starting, stopped])
      if (!running) return
      await stopped
      await running.close()
    })
}
