import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import { FatalError } from '../../core/errors/index.ts'
import { wholeNumber } from '../arguments.ts'
import type { CliIo } from '../io.ts'
import { endWithParent } from '../parent.ts'
import { openLogger } from '../settings.ts'
import { TRY_GROUP } from './groups.ts'

interface StandaloneFlags {
  readonly ship?: string
  readonly http?: string
  readonly data?: string
  readonly host: string
  readonly port: number
  readonly statePort?: number
  readonly startBlock?: number
  readonly startBlockOverride?: boolean
  readonly assetsAccount: string
  readonly marketAccount: string
  readonly oracleAccount: string
  readonly toolsAccount: string
}

const EXAMPLES = `
Examples:
  pronghorn standalone                                                      the bundled demo chain
  pronghorn standalone --data ./data                                        keep the database
  pronghorn standalone --ship ws://node:8080 --http http://node:8888        a real node`

export function addStandalone(program: Command, io: CliIo): void {
  program
    .command('standalone')
    .summary('run all services in one process, on a demo chain or a node')
    .description(
      'Runs everything in one process and needs nothing but Node.js: an embedded PostgreSQL, the filler, the api, the state service, and a demo chain unless a node is given. ' +
        'The process stops when the terminal or the program that started it exits; with `setsid` before the command, the process continues.',
    )
    .helpGroup(TRY_GROUP)
    .addOption(
      new Option('--ship <url>', 'state-history address of a node').argParser(
        urlOf(['ws:', 'wss:', 'ws+unix:']),
      ),
    )
    .addOption(
      new Option('--http <url>', 'HTTP address of the same node').argParser(urlOf(['http:', 'https:'])),
    )
    .option('--data <dir>', 'directory of the database (default: a temporary one)')
    .option('--host <address>', 'address that the api listens on', '127.0.0.1')
    .option('--port <port>', 'port that the api listens on', wholeNumber(1, 65535), 9000)
    .option(
      '--state-port <port>',
      'port that the state service listens on (default: ten above the port of the api)',
      wholeNumber(1, 65535),
    )
    .option(
      '--start-block <number>',
      'first block to index; 0 = the first available block (default: the start block of a known chain, else 0)',
      wholeNumber(0, 4294967295),
    )
    .option('--start-block-override', 'allow a first block other than the start block of a known chain')
    .option('--assets-account <name>', 'account of the assets contract', assetsAccount, 'atomicassets')
    .option('--market-account <name>', 'account of the market contract; none = leave it out', 'atomicmarket')
    .option('--oracle-account <name>', 'account of the oracle contract; none = leave it out', 'delphioracle')
    .option('--tools-account <name>', 'account of the tools contract; none = leave it out', 'atomictoolsx')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: StandaloneFlags) => {
      const node = nodeOf(flags)
      const { Progress, runStandalone } = await import('../../standalone/index.ts')
      const progress = new Progress({ out: io.out, isTerminal: io.isTerminal })
      const logger = openLogger(io, 'standalone', 'companion', { write: (line) => progress.print(line) })
      await runStandalone({
        node,
        dataDir: flags.data ?? null,
        host: flags.host,
        port: flags.port,
        statePort: flags.statePort ?? null,
        startBlock: flags.startBlock ?? null,
        startBlockOverride: flags.startBlockOverride ?? false,
        assetsAccount: flags.assetsAccount,
        marketAccount: flags.marketAccount,
        oracleAccount: flags.oracleAccount,
        toolsAccount: flags.toolsAccount,
        logger,
        progress,
        signal: endWithParent(io.signal, io.env.npm_lifecycle_event !== undefined),
      })
    })
}

/** Refuses `none`: the other contracts depend on the assets contract. */
function assetsAccount(text: string): string {
  if (text !== 'none') return text
  throw new InvalidArgumentError('Allowed: an account name. The assets contract cannot be left out.')
}

/** URLs of `--ship` and `--http`; null if neither is given. @throws FatalError `USAGE` if only one is given. */
function nodeOf({ ship, http }: StandaloneFlags): { readonly ship: string; readonly http: string } | null {
  if (ship !== undefined && http !== undefined) return { ship, http }
  if (ship === undefined && http === undefined) return null
  const [given, missing] = ship === undefined ? ['--http', '--ship'] : ['--ship', '--http']
  throw new FatalError(
    'USAGE',
    `${given} needs ${missing} as well: Pronghorn uses both addresses of the node`,
  )
}

const SEVERAL_URLS = /,\s*[a-z+]+:\/\//

function urlOf(protocols: readonly string[]): (text: string) => string {
  return (text) => {
    if (SEVERAL_URLS.test(text))
      throw new InvalidArgumentError(
        'Allowed: one URL. To read from several nodes, use the containers (CHAIN_SHIP in .env) or run the services as processes (chain.ship).',
      )
    if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text
    const allowed = `Allowed: a URL with ${protocols.map((protocol) => `${protocol}//`).join(', ')}.`
    throw new InvalidArgumentError(
      /^(?:ws|http)s?:\/\//.test(text) ? `${allowed} Are --ship and --http swapped?` : allowed,
    )
  }
}
