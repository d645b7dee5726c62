import { knownChains, startBlockProblem } from '../core/config/schema/index.ts'
import { ConfigError, parseConfig } from '../core/config/index.ts'
import type { AppConfig } from '../core/config/index.ts'
import type { DatabaseAddress } from '../core/database/index.ts'
import { FatalError } from '../core/errors/index.ts'

/** The chain to index, with the HTTP and state-history URL of its node. */
export interface StandaloneChain {
  readonly name: string
  /** Chain id, 64 hexadecimal digits. */
  readonly chainId: string
  readonly http: string
  readonly ship: string
}

/** First block to index. */
export interface Start {
  readonly block: number
  /** Whether the first block may differ from the known start block of the chain. */
  readonly override: boolean
}

/**
 * Chooses the first block to index: the given block; else the known start block of the chain; else the first block of
 * the node.
 *
 * @throws FatalError `USAGE` if the given block differs from the known one and `override` is false.
 */
export function chooseStart(chainId: string, given: number | null, override: boolean): Start {
  const block = given ?? knownChains.find(({ id }) => id === chainId)?.startBlock ?? 0
  const allowed = override ? undefined : startBlockProblem(chainId, block, '--start-block-override')
  if (allowed !== undefined)
    throw new FatalError('USAGE', `--start-block: found ${block}, allowed: ${allowed}`)
  return { block, override }
}

/** Settings from which a standalone run's configuration is built. */
export interface StandaloneSettings {
  readonly database: DatabaseAddress
  readonly chain: StandaloneChain
  readonly host: string
  readonly port: number
  readonly start: Start
  readonly assetsAccount: string
  readonly marketAccount: string
  readonly oracleAccount: string
  readonly toolsAccount: string
  /** Whether the reader deletes the indexed data at its start and indexes again. */
  readonly deleteData: boolean
  /** Arguments of the handler `state`, which stores the data of the state service. */
  readonly storedState: {
    readonly accounts: readonly string[]
    readonly permissions: boolean
    readonly history_blocks: number
  }
}

const READER = 'standalone-1'
/** Value of an account option that leaves its contract out. */
export const LEFT_OUT = 'none'

/**
 * Builds the configuration of a standalone run in memory, validated like configuration files.
 *
 * @throws FatalError `USAGE` naming the option that has an unusable value.
 */
export function createConfig(settings: StandaloneSettings): AppConfig {
  const { chain, assetsAccount, marketAccount, oracleAccount, toolsAccount } = settings
  const has = (account: string): boolean => account !== LEFT_OUT
  return parseOptions({
    connections: {
      sqldb: settings.database,
      chain: { name: chain.name, chain_id: chain.chainId, http: chain.http, ship: chain.ship },
    },
    server: {
      provider_name: 'Pronghorn',
      provider_url: `http://localhost:${settings.port}`,
      server_name: `localhost:${settings.port}`,
      server_addr: settings.host,
      server_port: settings.port,
      namespaces: [
        {
          name: 'assets',
          path: '/assets',
          aliases: ['/atomicassets'],
          args: { assets_account: assetsAccount, connected_reader: READER },
        },
        {
          name: 'market',
          path: '/market',
          aliases: ['/atomicmarket'],
          args: { market_account: marketAccount, assets_account: assetsAccount, connected_reader: READER },
        },
        {
          name: 'tools',
          path: '/tools',
          aliases: ['/atomictools'],
          args: { tools_account: toolsAccount, assets_account: assetsAccount, connected_reader: READER },
        },
      ].filter(({ name }) => has(name === 'market' ? marketAccount : name === 'tools' ? toolsAccount : '')),
    },
    readers: [
      {
        name: READER,
        server_port: 9001,
        start_block: settings.start.block,
        start_block_override: settings.start.override,
        delete_data: settings.deleteData,
        ship_prefetch_blocks: 200,
        contracts: [
          {
            handler: 'assets',
            args: { assets_account: assetsAccount, store_transfers: true, store_logs: true },
          },
          ...(has(oracleAccount) ? [{ handler: 'oracle', args: { oracle_account: oracleAccount } }] : []),
          ...(has(marketAccount)
            ? [{ handler: 'market', args: { market_account: marketAccount, store_logs: true } }]
            : []),
          ...(has(toolsAccount)
            ? [{ handler: 'tools', args: { tools_account: toolsAccount, store_logs: true } }]
            : []),
          { handler: 'state', args: settings.storedState },
        ],
      },
    ],
  })
}

/** Command-line options by the configuration key that the option sets. Only the last part of each key is listed. */
const optionsByKey: Readonly<Record<string, string>> = {
  assets_account: '--assets-account',
  accounts: '--assets-account',
  market_account: '--market-account',
  oracle_account: '--oracle-account',
  tools_account: '--tools-account',
  server_addr: '--host',
  server_port: '--port',
  start_block: '--start-block',
  http: '--http',
  ship: '--ship',
}

/** Parses a configuration that was built from command-line options. Errors name the options instead of file keys. */
function parseOptions(files: Parameters<typeof parseConfig>[0]): AppConfig {
  try {
    return parseConfig(files).config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const lines = error.problems.map(({ path, found, allowed }) => {
      const option = optionsByKey[/(\w+)(?:\[\d+\])?$/.exec(path)?.[1] ?? '']
      return option === undefined ? null : `${option}: found ${found}, allowed: ${allowed}`
    })
    if (lines.includes(null)) throw error
    throw new FatalError('USAGE', [...new Set(lines)].join('; '), { cause: error.cause })
  }
}
