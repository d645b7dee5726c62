import { setTimeout as sleep } from 'node:timers/promises'
import { parseConfig } from '../../services/core/config/index.ts'
import { createMemoryStore } from '../../services/core/kvstore/index.ts'
import { openRedisStore } from '../../services/core/kvstore/redis-store.ts'
import type { KeyValueStore } from '../../services/core/kvstore/index.ts'
import type { FeedEntry } from '../../services/core/feed/index.ts'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { ask, quiet } from '../api/server.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createBegunDatabase } from '../integration/indexed-database.ts'
import { PositionWatch } from '../integration/position.ts'
import type { TestDatabase } from '../setup/database.ts'
import { openFeedReader, readEntries } from './published.ts'
import type { FeedReader } from './published.ts'

const args = { connected_reader: testSettings.name }
const namespaces = [
  { name: 'assets', path: '/assets', args: { ...args, assets_account: 'atomicassets' } },
  { name: 'market', path: '/market', args: { ...args, market_account: 'atomicmarket' } },
  { name: 'tools', path: '/tools', args: { ...args, tools_account: 'atomictoolsx' } },
]

export interface LiveChainOptions {
  /** Port of a Redis server; absent = filler and API share an in-process store. */
  readonly redisPort?: number
  readonly seed: number
  /** Keys of server.config.json to override. */
  readonly server?: Record<string, unknown>
}

/** A chain with a filler that follows it and an API that receives the filler's feed. */
export class LiveChain {
  readonly chain: TestChain
  readonly database: TestDatabase
  readonly api: RunningApi
  readonly feed: FeedReader
  readonly #watch: PositionWatch
  readonly #stores: readonly KeyValueStore[]
  readonly #stopReader: () => Promise<void>

  private constructor(parts: Pick<LiveChain, 'chain' | 'database' | 'api' | 'feed'>, more: More) {
    ;({ chain: this.chain, database: this.database, api: this.api, feed: this.feed } = parts)
    ;({ watch: this.#watch, stores: this.#stores, stopReader: this.#stopReader } = more)
  }

  /** Starts all parts; resolves when the filler is at the head and publishes. */
  static async start({ redisPort, seed, server }: LiveChainOptions): Promise<LiveChain> {
    const database = await createBegunDatabase()
    const chain = await startChain({
      recordings: ['main', 'v2'],
      libLagBlocks: 40,
      blocks: 50,
      rate: 8,
      seed,
    })
    const stores = await openStores(redisPort)
    const ending = new AbortController()
    const reading = indexUntil(chain, database.address, 0, {
      signal: ending.signal,
      options: { send: (channel, text) => void stores[0]!.publish(channel, text).catch(() => undefined) },
    })
    const watch = await PositionWatch.open(database.address, testSettings.name)
    const committed = () => watch.until((at) => at?.id === chain.chain.head().id)
    await committed()
    // The first block at the head is not published. Produce it now, so that the API starts after it.
    chain.chain.produceBlock()
    await committed()
    const { config } = parseConfig({
      connections: {
        sqldb: { ...database.address },
        chain: { name: 'test', chain_id: chain.chain.chainId, http: chain.httpUrl, ship: chain.shipUrl },
      },
      server: { server_addr: '127.0.0.1', namespaces, ...server },
    })
    const api = await startApi({
      config: { connections: config.connections, server: { ...config.server, server_port: 0 } },
      logger: quiet,
      kvstore: stores.at(-1)!,
    })
    const feed = await openFeedReader(database.address)
    const stopReader = async (): Promise<void> => {
      ending.abort()
      await reading
    }
    return new LiveChain({ chain, database, api, feed }, { watch, stores, stopReader })
  }

  /** Produces one block and waits until the filler has committed it. */
  async produce(): Promise<void> {
    this.chain.chain.produceBlock()
    await this.committed()
  }

  /** Waits until the filler has committed the head. */
  async committed(): Promise<void> {
    await this.#watch.until((at) => at?.id === this.chain.chain.head().id)
  }

  /** All entries that the filler has published. */
  entries(): Promise<FeedEntry[]> {
    return readEntries(this.feed.query)
  }

  /** Member `data` of the response to a GET request. */
  async data(path: string): Promise<unknown> {
    return (await ask(this.api.url + path)).body.data
  }

  async close(): Promise<void> {
    await this.#stopReader()
    await this.api.close()
    await this.feed.close()
    await this.#watch.close()
    for (const store of this.#stores) await store.close()
    await this.chain.chain.stop()
    await sleep(1)
    await this.database.drop()
  }
}

interface More {
  readonly watch: PositionWatch
  readonly stores: readonly KeyValueStore[]
  readonly stopReader: () => Promise<void>
}

/**
 * Opens the store of the filler first and the store of the API last. Without Redis, one store in memory serves filler
 * and API.
 */
function openStores(redisPort: number | undefined): Promise<KeyValueStore[]> | KeyValueStore[] {
  if (redisPort === undefined) return [createMemoryStore(quiet)]
  const open = (): Promise<KeyValueStore> =>
    openRedisStore({
      address: { host: '127.0.0.1', port: redisPort, tls: false, connection_type: 'standalone' },
      prefix: 'pronghorn:test:',
      logger: quiet,
    })
  return Promise.all([open(), open()])
}
