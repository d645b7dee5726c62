import type { Command } from 'commander'
import { decimalNumber, wholeNumber } from '../arguments.ts'
import type { CliIo } from '../io.ts'
import { openLogger } from '../settings.ts'
import { TRY_GROUP } from './groups.ts'

interface DevchainFlags {
  readonly host: string
  readonly port: number
  readonly httpPort: number
  readonly blocks: number
  readonly seed: number
  readonly rate: number
  readonly forks?: number | true
  readonly data?: string
}

const DEFAULT_FORK_CHANCE = 0.02

export function addDevchain(program: Command, io: CliIo): void {
  program
    .command('devchain')
    .summary('run a small demo chain')
    .description(
      'Serves a chain like a node: recorded blocks of a real chain, then generated blocks, one every half second.',
    )
    .helpGroup(TRY_GROUP)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port of the state-history socket', wholeNumber(0, 65535), 8080)
    .option('--http-port <port>', 'port of the chain API', wholeNumber(0, 65535), 8888)
    .option(
      '--blocks <count>',
      'number of blocks to generate immediately at the start',
      wholeNumber(0, 10_000_000),
      0,
    )
    .option('--seed <number>', 'seed of the random generator', wholeNumber(0, 4294967295), 1)
    .option(
      '--rate <actions>',
      'average number of actions in a generated block',
      decimalNumber(0, 100_000),
      4,
    )
    .option(
      '--forks [chance]',
      `chance from 0 to 1 that a block is followed by a fork (${DEFAULT_FORK_CHANCE} when not given)`,
      decimalNumber(0, 1),
    )
    .option('--data <folder>', 'folder for the generated blocks, so that the chain continues after a restart')
    .action(async ({ forks, data, ...flags }: DevchainFlags) => {
      const logger = openLogger(io, 'devchain')
      const { runDevchain } = await import('../../devchain/index.ts')
      await runDevchain({
        ...flags,
        ...(data === undefined ? {} : { dataFolder: data }),
        ...(forks === undefined ? {} : { forks: forks === true ? DEFAULT_FORK_CHANCE : forks }),
        logger,
        signal: io.signal,
      })
    })
}
