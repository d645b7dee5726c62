import { startApi } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import type { AppConfig } from '../../services/core/config/index.ts'
import { buildQueryIndexes, connectDatabase, listIndexFamilies } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import type { Logger } from '../../services/core/log/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import { runReader } from '../../services/filler/index.ts'
import type { CorpusName } from './corpus.ts'
import { corpusNames } from './corpus.ts'

/** Database and replay mode of an API that serves the indexed recording. */
export interface StageOptions {
  /** Empty, migrated database. */
  readonly database: DatabaseAddress
  /**
   * `history`: index the recording in one catch-up. `recorded`: replay the blocks as they arrived, including live
   * blocks.
   */
  readonly replay: 'history' | 'recorded'
  readonly logger: Logger
}

/** A running API that serves the indexed recording. */
export interface Stage {
  readonly url: string
  /** Families whose recorded requests this API can answer. */
  readonly corpora: readonly CorpusName[]
  close(): Promise<void>
}

/** Last block of the recording `main`. */
const LAST_BLOCK = 846

const reader = {
  name: 'atomic-1',
  start_block: 0,
  stop_block: LAST_BLOCK,
  irreversible_only: false,
  ship_prefetch_blocks: 50,
  ship_min_block_confirmation: 30,
  ship_ds_queue_size: 20,
  db_group_blocks: 10,
  ds_ship_threads: 2,
  contracts: [
    {
      handler: 'atomicassets',
      args: { atomicassets_account: 'atomicassets', store_transfers: true, store_logs: true },
    },
    { handler: 'delphioracle', args: { delphioracle_account: 'delphioracle' } },
    {
      handler: 'atomicmarket',
      args: { atomicassets_account: 'atomicassets', atomicmarket_account: 'atomicmarket', store_logs: true },
    },
  ],
}

/**
 * Namespaces of the API. The limits must equal the limits of the recording, which contains refusals of larger pages.
 * The second mount of the market has v1 sales enabled.
 */
const namespaces = [
  {
    name: 'atomicassets',
    path: '/atomicassets',
    args: {
      atomicassets_account: 'atomicassets',
      connected_reader: 'atomic-1',
      socket_features: { asset_update: true },
      limits: {
        accounts: 5000,
        assets: 1000,
        burns: 5000,
        collections: 100,
        offers: 100,
        schemas: 100,
        templates: 1000,
        transfers: 100,
        logs: 100,
      },
    },
  },
  {
    name: 'atomicmarket',
    path: '/atomicmarket',
    args: {
      atomicmarket_account: 'atomicmarket',
      connected_reader: 'atomic-1',
      socket_features: { asset_update: true },
      api_features: { disable_v1_sales: true },
      limits: {
        assets: 1000,
        offers: 100,
        transfers: 100,
        auctions: 100,
        buyoffers: 100,
        prices_templates: 1000,
        sales: 100,
        sales_templates: 100,
        sales_v2: 100,
        logs: 100,
      },
    },
  },
  {
    name: 'atomicmarket',
    path: '/oldmarket',
    args: {
      atomicmarket_account: 'atomicmarket',
      connected_reader: 'atomic-1',
      api_features: { disable_v1_sales: false },
    },
  },
]

/** The chain that the reader indexes, and the URLs of its node. */
export interface StageChain {
  readonly chainId: string
  readonly httpUrl: string
  readonly shipUrl: string
}

/** Configuration with which the answers were recorded. */
function stageConfig(database: DatabaseAddress, { chainId, httpUrl, shipUrl }: StageChain): AppConfig {
  const { config } = parseConfig({
    connections: {
      sqldb: { ...database },
      chain: { name: 'recording', chain_id: chainId, http: httpUrl, ship: shipUrl },
    },
    readers: [reader],
    server: { server_addr: '127.0.0.1', cache_life: 0, max_db_connections: 50, namespaces },
  })
  return config
}

/** Settings of the reader that indexes the recording. */
export function stageReader(database: DatabaseAddress, chain: StageChain): AppConfig['readers'][number] {
  return stageConfig(database, chain).readers[0]!
}

/** Builds the query indexes of a database with the indexed recording, and starts the API on the database. */
export async function serveStage(
  database: DatabaseAddress,
  chain: StageChain,
  logger: Logger,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const config = stageConfig(database, chain)
  await buildIndexes(database)
  return startApi({ config: { ...config, server: { ...config.server, server_port: 0 } }, logger })
}

/** Indexes the recording and starts the API, both configured as when the answers were recorded. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const { database, logger } = options
  const chain = createDevchain({ recordings: ['main'], replay: options.replay })
  const { shipUrl, httpUrl } = await chain.start()
  const at = { chainId: chain.chainId, httpUrl, shipUrl }
  try {
    await runReader(
      {
        // A recorded block that deploys code contains zeros instead of the code, so its Merkle roots are wrong.
        settings: { ...stageReader(database, at), ship_check_roots: options.replay !== 'recorded' },
        database,
        chain: { chainId: chain.chainId, http: httpUrl, ship: [shipUrl] },
        logger,
        buildQueryIndexes: false,
      },
      new AbortController().signal,
    )
    const api = await serveStage(database, at, logger)
    return {
      url: api.url,
      corpora: await servedCorpora(api.url),
      async close() {
        await api.close()
        await chain.stop()
      },
    }
  } catch (error) {
    await chain.stop()
    throw error
  }
}

async function servedCorpora(url: string): Promise<CorpusName[]> {
  const served: CorpusName[] = []
  for (const name of corpusNames) {
    const { status } = await fetch(`${url}/atomic${name}/v1/config`)
    if (status === 200) served.push(name)
  }
  return served
}

async function buildIndexes(database: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(database, { applicationName: 'conformance' })
  try {
    for (const family of await listIndexFamilies()) await buildQueryIndexes(client, family)
  } finally {
    await client.end()
  }
}
