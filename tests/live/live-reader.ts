import { createMemoryStore } from '../../services/core/kvstore/index.ts'
import type { KeyValueStore } from '../../services/core/kvstore/index.ts'
import type { DevchainOptions } from '../../services/devchain/options.ts'
import type { ReaderSettings } from '../../services/filler/index.ts'
import type { TestDatabase } from '../setup/database.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createBegunDatabase } from '../integration/indexed-database.ts'
import { PositionWatch } from '../integration/position.ts'
import { openFeedReader } from './published.ts'
import type { FeedReader } from './published.ts'

/** A logger that discards everything. */
export const quiet = { info: () => undefined, warn: () => undefined }

/** A chain whose blocks the test produces, a reader in this process that follows it, and its published feed. */
export class LiveReader {
  readonly running: TestChain
  readonly database: TestDatabase
  readonly feed: FeedReader
  /** Store whose bus carries the reader's messages. */
  readonly store: KeyValueStore = createMemoryStore(quiet)
  readonly #watch: PositionWatch
  #stopping: (() => Promise<void>) | null = null
  #failure: unknown

  private constructor(running: TestChain, database: TestDatabase, feed: FeedReader, watch: PositionWatch) {
    this.running = running
    this.database = database
    this.feed = feed
    this.#watch = watch
  }

  /** Starts a chain that begins with the recording `main`, without a reader. */
  static async open(chain: DevchainOptions): Promise<LiveReader> {
    const [running, database] = await Promise.all([startChain(chain), createBegunDatabase()])
    const feed = await openFeedReader(database.address)
    const watch = await PositionWatch.open(database.address, testSettings.name)
    return new LiveReader(running, database, feed, watch)
  }

  start(settings: Partial<ReaderSettings> = {}): void {
    const ending = new AbortController()
    const done = indexUntil(this.running, this.database.address, 0, {
      settings,
      signal: ending.signal,
      options: {
        send: (channel, text) => void this.store.publish(channel, text),
        retry: { firstMs: 10, longestMs: 50 },
      },
    })
    done.catch((error: unknown) => (this.#failure = error))
    this.#stopping = async () => {
      ending.abort()
      await done
    }
  }

  /** Waits until the reader has committed the head, or the given block. */
  async reach({ num, id } = this.running.chain.head()): Promise<void> {
    await this.#watch.until(
      (at) => at?.num === num && at.id === id,
      () => this.#failure !== undefined,
    )
    if (this.#failure instanceof Error) throw this.#failure
  }

  /** Produces blocks; waits after each until the reader has committed it. */
  async follow(blocks: number): Promise<void> {
    for (let made = 0; made < blocks; made++) {
      this.running.chain.generate(1)
      await this.reach()
    }
  }

  async stop(): Promise<void> {
    await this.#stopping?.()
    this.#stopping = null
  }

  /** Stops reader, chain and database. */
  async close(): Promise<void> {
    await this.stop()
    await this.#watch.close()
    await this.feed.close()
    await this.store.close()
    await this.running.chain.stop()
    await this.database.drop()
  }
}
