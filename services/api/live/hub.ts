import {
  cursorAfter,
  encodeCursor,
  subscribeToFeed,
  newestCursor,
  readFeedState,
} from '../../core/feed-reader/index.ts'
import type { FeedBlock, FeedEntry, FeedLag } from '../../core/feed/index.ts'
import type { FeedCursor, FeedSubscriber, FeedQuery, SubscriberStatus } from '../../core/feed-reader/index.ts'
import { describeError } from '../../core/errors/index.ts'
import type { KeyValueStore } from '../../core/kvstore/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { retry } from '../../core/retry/index.ts'
import type { RequestDatabase } from '../database/index.ts'
import type { Channel } from './channel.ts'
import type { LiveClient } from './client.ts'
import type { LiveEvent } from './live-event.ts'
import { createLiveEvent } from './live-event.ts'
import type { LiveObserver } from './observer.ts'
import { message } from './outgoing.ts'
import { eventsOf, readRecords } from './records.ts'
import type { FoundRecords, PlacedEvent } from './records.ts'

/** How often a reader that is at the head publishes its lag to clients without other messages, ms. */
const QUIET_LAG_MS = 10_000
/** After a failure of the database the same block is tried again this much later, and then twice as late, ms. */
const PAUSES = { firstMs: 100, longestMs: 3_000 }

/** Dependencies of a hub. */
export interface HubOptions {
  readonly reader: string
  readonly channels: readonly Channel[]
  readonly database: RequestDatabase
  readonly kvstore: KeyValueStore
  /** Reads from the primary. */
  readonly query: FeedQuery
  readonly observer: LiveObserver
  readonly logger: Logger
  /** Called for each block before its events. */
  readonly onBlock: (block: FeedBlock, events: readonly LiveEvent[]) => void
}

/** Subscribes to one reader, and hands what it publishes to the channels of the namespaces that are connected to it, in order. */
export class ReaderHub {
  readonly reader: string
  readonly #options: HubOptions
  #subscriber: FeedSubscriber | undefined
  /** After what was published last; undefined while the reader has no feed. */
  #position: FeedCursor | undefined
  #isPublishing = false
  #waitingLag: FeedLag | undefined
  #lagPublishedMs = -Infinity
  #wasLive: boolean | undefined
  readonly #closing = new AbortController()

  constructor(options: HubOptions) {
    this.reader = options.reader
    this.#options = options
  }

  async start(): Promise<void> {
    const { kvstore, query, reader, logger } = this.#options
    // Without the database it starts where the feed is once it answers.
    const state = await readFeedState(query, reader).catch(() => null)
    if (state) this.#position = newestCursor(reader, state)
    this.#subscriber = await subscribeToFeed({
      store: kvstore,
      query,
      reader,
      logger,
      ...(state ? { from: { epoch: state.epoch, sequence: state.sequence } } : {}),
      onEntry: (entry) => this.#publish(entry),
      onLag: (lag) => this.#noteLag(lag),
    })
  }

  get position(): FeedCursor | undefined {
    return this.#position
  }

  /** State of the feed; undefined before the start. */
  status(): SubscriberStatus | undefined {
    return this.#subscriber?.status()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#subscriber?.close()
  }

  async #publish(entry: FeedEntry): Promise<void> {
    const startedMs = performance.now()
    this.#isPublishing = true
    try {
      if (entry.kind === 'block') await this.#publishBlock(entry)
      else {
        await this.#untilRead('caught up', () => this.#options.database.caughtUp())
        this.#position = cursorAfter(entry)
        await this.#sendToAll(entry)
      }
    } finally {
      this.#isPublishing = false
    }
    this.#options.observer.published(this.reader, (performance.now() - startedMs) / 1_000)
    const lag = this.#waitingLag
    this.#waitingLag = undefined
    if (lag) await this.#publishLag(lag)
  }

  async #sendToAll(entry: Exclude<FeedEntry, FeedBlock>): Promise<void> {
    const cursor = encodeCursor(cursorAfter(entry))
    const { channels } = this.#options
    if (entry.kind === 'fork') {
      const fork = message('fork', { block_num: entry.block_num }, cursor)
      await Promise.all(
        channels.map((channel) => channel.publishFork(BigInt(entry.sequence), entry.block_num, fork)),
      )
      return
    }
    const { from_block, to_block } = entry
    const gap = message('gap', { from_block, to_block }, cursor)
    for (const channel of channels) channel.forgetHeard()
    await Promise.all(channels.map((channel) => channel.sendToAll(() => gap)))
  }

  async #publishBlock(block: FeedBlock): Promise<void> {
    const assembled = this.#options.channels.map((channel) => new Composition(block, channel))
    // Clients that subscribe while records are read may need more of them.
    for (;;) {
      const missing = assembled.filter((each) => each.missing().length > 0)
      if (missing.length === 0) break
      await this.#untilRead('read', async () => {
        await this.#options.database.caughtUp()
        for (const each of missing) await each.read(this.#options.database)
      })
      if (this.#closing.signal.aborted) return
    }
    this.#position = cursorAfter(block)
    const published = assembled.map((each) => ({ channel: each.channel, events: each.events() }))
    this.#options.onBlock(
      block,
      published.flatMap(({ events }) => events),
    )
    await Promise.all(published.map(({ channel, events }) => channel.publish(BigInt(block.sequence), events)))
  }

  /** Nothing is left out while the database is unavailable: what comes after waits. */
  async #untilRead(what: string, task: () => Promise<void>): Promise<void> {
    const { logger, reader } = this.#options
    const reading = retry(task, {
      ...PAUSES,
      signal: this.#closing.signal,
      onFailure: (error, failures) => {
        if (failures > 1) return
        logger.warn(
          { reader, cause: describeError(error) },
          `live events wait: the database cannot be ${what}`,
        )
      },
    })
    // Only the end of the hub ends the attempts before one succeeds.
    await reading.catch(() => undefined)
  }

  /** The cursor of a lag message must not run ahead of a block that is being published. */
  #noteLag(lag: FeedLag): void {
    if (this.#isPublishing) this.#waitingLag = lag
    else void this.#publishLag(lag)
  }

  async #publishLag({ block_num, head_block, behind, live }: FeedLag): Promise<void> {
    const nowMs = performance.now()
    if (live && this.#wasLive === live && nowMs - this.#lagPublishedMs < QUIET_LAG_MS) return
    this.#wasLive = live
    this.#lagPublishedMs = nowMs
    const position = this.#position
    const members = { block_num, head_block, behind, live }
    const lag = message('lag', members, position && encodeCursor(position))
    const lagAlone = message('lag', members)
    // Neither clients that have been given more nor those that are sent the next entry meanwhile are at this position.
    const isAt = ({ heardUpTo }: LiveClient): boolean =>
      position === this.#position && heardUpTo <= (position?.sequence ?? 0n)
    await Promise.all(
      this.#options.channels.map((channel) => channel.sendToAll((client) => (isAt(client) ? lag : lagAlone))),
    )
  }
}

/** The events of one block for one channel, with the records that subscriptions need. */
class Composition {
  readonly channel: Channel
  readonly #block: FeedBlock
  readonly #placed: readonly PlacedEvent[]
  readonly #read = new Map<PlacedEvent, FoundRecords>()

  constructor(block: FeedBlock, channel: Channel) {
    this.channel = channel
    this.#block = block
    this.#placed = eventsOf(block, channel.mount.family, channel.mount.contract)
  }

  /** Events of subscriptions whose record has not been read. */
  missing(): PlacedEvent[] {
    const wanted = new Map<string, boolean>()
    return this.#placed.filter((placed) => {
      if (this.#read.has(placed)) return false
      const { action } = placed.entry
      const known = wanted.get(action) ?? this.channel.wants(placed.entry)
      wanted.set(action, known)
      return known
    })
  }

  async read(database: RequestDatabase): Promise<void> {
    const missing = this.missing()
    const found = await readRecords(database, this.channel.mount.namespace, missing)
    for (const placed of missing) this.#read.set(placed, found)
  }

  events(): LiveEvent[] {
    return this.#placed.flatMap((placed) => {
      const found = this.#read.get(placed)
      return found ? [liveEventOf(this.#block, placed, found)] : []
    })
  }
}

/** An event with its record and the cursor after it. */
export function liveEventOf(
  block: FeedBlock,
  { index, event, entry }: PlacedEvent,
  found: FoundRecords,
): LiveEvent {
  const isLast = index === block.events.length - 1
  const cursor = encodeCursor(cursorAfter(block, isLast ? null : index + 1))
  return createLiveEvent(block, event, entry, found(entry, event), cursor)
}
