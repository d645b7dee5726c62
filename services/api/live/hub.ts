import {
  cursorAfter,
  encodeCursor,
  FeedHistory,
  newestCursor,
  readFeedState,
  subscribeToFeed,
} from '../../core/feed-reader/index.ts'
import type { FeedBlock, FeedEntry, FeedLag } from '../../core/feed/index.ts'
import type { FeedCursor, FeedQuery, FeedSubscriber, SubscriberStatus } from '../../core/feed-reader/index.ts'
import { describeError } from '../../core/errors/index.ts'
import type { KeyValueStore } from '../../core/kvstore/index.ts'
import type { Logger } from '../../core/log/index.ts'
import { retry } from '../../core/retry/index.ts'
import type { RequestDatabase } from '../database/index.ts'
import { BlockEvents } from './block-events.ts'
import type { Channel } from './channel.ts'
import { cursorText } from './client.ts'
import type { LiveObserver } from './observer.ts'
import { message } from './outgoing.ts'
import { EventRecords } from './records.ts'

/** Minimum interval between two lag messages while the reader is at the head of the chain, ms. */
const QUIET_LAG_MS = 10_000
/**
 * A client that receives no matching events is sent a newer cursor after this time, ms. A timer checks twice within
 * this time which clients need one.
 */
const POSITION_MS = 20_000
/**
 * Wait before a failed database read is repeated, ms. The wait begins with `firstMs` and doubles after each failure up
 * to `longestMs`.
 */
const pauses = { firstMs: 100, longestMs: 3_000 }

export interface HubOptions {
  readonly reader: string
  readonly channels: readonly Channel[]
  readonly database: RequestDatabase
  readonly kvstore: KeyValueStore
  /** Runs a query on the primary database. */
  readonly query: FeedQuery
  readonly observer: LiveObserver
  readonly logger: Logger
  /**
   * Time after which a client without matching events is sent a newer cursor, ms. Default POSITION_MS; tests set less.
   */
  readonly positionMs?: number | undefined
}

/**
 * Subscribes to the feed of one reader, and passes the entries in order to the channels of the connected namespaces.
 */
export class ReaderHub {
  readonly reader: string
  /** Published entries of the feed, from which resuming clients get the events that they missed. */
  readonly history: FeedHistory
  readonly #options: HubOptions
  readonly #records: ReadonlyMap<Channel, EventRecords>
  #events = new WeakMap<FeedBlock, Map<Channel, BlockEvents>>()
  #subscriber: FeedSubscriber | undefined
  /** Position after the last published entry of the feed; undefined while the reader has no feed. */
  #position: FeedCursor | undefined
  #isPublishing = false
  #waitingLag: FeedLag | undefined
  #lagPublishedMs = -Infinity
  #wasLive: boolean | undefined
  #pulse: NodeJS.Timeout | undefined
  readonly #closing = new AbortController()

  constructor(options: HubOptions) {
    const { reader, query, channels, database } = options
    this.reader = reader
    this.#options = options
    this.history = new FeedHistory({ query, reader })
    this.#records = new Map(
      channels.map((channel) => {
        const { namespace, paths } = channel.mount
        return [channel, new EventRecords(database, namespace, paths[0] ?? '')]
      }),
    )
  }

  async start(): Promise<void> {
    const { kvstore, query, reader, logger, positionMs = POSITION_MS } = this.#options
    // If the database is unavailable now, the position of the feed is read as soon as the database answers.
    const state = await readFeedState(query, reader).catch(() => null)
    if (state) {
      this.#moveTo(newestCursor(reader, state))
      this.history.begin(this.#position!)
    }
    this.#subscriber = await subscribeToFeed({
      store: kvstore,
      query,
      reader,
      logger,
      ...(state ? { from: { epoch: state.epoch, sequence: state.sequence } } : {}),
      onEntry: (entry, characters) => this.#publish(entry, characters),
      onLag: (lag) => this.#noteLag(lag),
    })
    this.#pulse = setInterval(() => void this.#sendPosition(positionMs / 2), positionMs / 2)
    this.#pulse.unref()
  }

  get position(): FeedCursor | undefined {
    return this.#position
  }

  /** Bytes that the live clients of the reader's namespaces have not read yet. */
  get waitingBytes(): number {
    return this.#options.channels.reduce((sum, channel) => sum + channel.waitingBytes, 0)
  }

  /** State of the feed subscription; undefined before the start. */
  status(): SubscriberStatus | undefined {
    return this.#subscriber?.status()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#pulse)
    await this.#subscriber?.close()
  }

  /**
   * Returns the events of a block that a channel's namespace publishes. The result is the same object while the block
   * is in the feed history.
   */
  eventsOf(block: FeedBlock, channel: Channel): BlockEvents {
    const ofBlock = this.#events.get(block) ?? new Map<Channel, BlockEvents>()
    this.#events.set(block, ofBlock)
    const known = ofBlock.get(channel)
    if (known) return known
    const events = new BlockEvents(block, channel.mount, this.#records.get(channel)!, (bytes) => {
      this.history.grow(block, bytes)
    })
    ofBlock.set(channel, events)
    return events
  }

  #moveTo(position: FeedCursor): void {
    this.#position = position
    for (const channel of this.#options.channels) channel.moveTo(position)
  }

  async #publish(entry: FeedEntry, characters: number): Promise<void> {
    const startedMs = performance.now()
    this.#isPublishing = true
    try {
      if (entry.kind === 'block') await this.#publishBlock(entry, characters)
      else {
        await this.#untilRead('caught up', () => this.#options.database.caughtUp())
        await this.#publishNotice(entry, characters)
      }
    } finally {
      this.#isPublishing = false
    }
    this.#options.observer.published(this.reader, (performance.now() - startedMs) / 1_000)
    const lag = this.#waitingLag
    this.#waitingLag = undefined
    if (lag) await this.#publishLag(lag)
  }

  async #publishNotice(entry: Exclude<FeedEntry, FeedBlock>, characters: number): Promise<void> {
    const cursor = encodeCursor(cursorAfter(entry))
    const { channels } = this.#options
    this.history.append(entry, characters)
    // Drop the cached records. A record that was read after the undone blocks were written may contain their changes.
    if (entry.kind === 'fork') this.#events = new WeakMap()
    this.#moveTo(cursorAfter(entry))
    if (entry.kind === 'fork') {
      const fork = message('fork', { block_num: entry.block_num }, cursor)
      await Promise.all(channels.map((channel) => channel.publishNotice(fork, entry.block_num)))
      return
    }
    const { from_block, to_block } = entry
    const gap = message('gap', { from_block, to_block }, cursor)
    await Promise.all(channels.map((channel) => channel.publishNotice(gap)))
  }

  async #publishBlock(block: FeedBlock, characters: number): Promise<void> {
    this.history.append(block, characters)
    const { channels } = this.#options
    // Clients that subscribe during the database read may need further records of the block, so check again after each
    // read.
    for (;;) {
      const missing = channels.filter((channel) => isMissing(channel, this.eventsOf(block, channel)))
      if (missing.length === 0) break
      await this.#untilRead('read', async () => {
        await this.#options.database.caughtUp()
        for (const channel of missing) await readMissing(channel, this.eventsOf(block, channel))
      })
      if (this.#closing.signal.aborted) return
    }
    this.#moveTo(cursorAfter(block))
    await Promise.all(channels.map((channel) => channel.publish(this.eventsOf(block, channel))))
  }

  /**
   * Repeats a database read until it succeeds. Later entries of the feed wait meanwhile, so no event is skipped while
   * the database is unavailable.
   */
  async #untilRead(what: string, task: () => Promise<void>): Promise<void> {
    const { logger, reader } = this.#options
    const reading = retry(task, {
      ...pauses,
      signal: this.#closing.signal,
      onFailure: (error, failures) => {
        if (failures > 1) return
        logger.warn(
          { reader, cause: describeError(error) },
          `live events are delayed: the database cannot be ${what}`,
        )
      },
    })
    // `reading` fails only if `close` was called: `retry` repeats the database read after any other error.
    await reading.catch(() => undefined)
  }

  /**
   * Publishes a message about the lag of the reader. While a feed entry is being published, the message waits: its
   * cursor would be ahead of the entry, which some clients have not received yet.
   */
  #noteLag(lag: FeedLag): void {
    if (this.#isPublishing) this.#waitingLag = lag
    else void this.#publishLag(lag)
  }

  async #publishLag({ block_num, head_block, behind, live }: FeedLag): Promise<void> {
    const nowMs = performance.now()
    if (live && this.#wasLive === live && nowMs - this.#lagPublishedMs < QUIET_LAG_MS) return
    this.#wasLive = live
    this.#lagPublishedMs = nowMs
    const lag = message('lag', { block_num, head_block, behind, live }, cursorText(this.#position))
    await Promise.all(this.#options.channels.map((channel) => channel.inform(lag)))
  }

  async #sendPosition(quietMs: number): Promise<void> {
    const cursor = cursorText(this.#position)
    if (cursor === undefined) return
    const position = message('position', {}, cursor)
    await Promise.all(this.#options.channels.map((channel) => channel.inform(position, quietMs)))
  }
}

/**
 * Whether filter keys or records must be read before a block is published. The records of a heavy block are read later,
 * in chunks.
 */
function isMissing(channel: Channel, events: BlockEvents): boolean {
  if (channel.lackingKeys(events).length > 0) return true
  return !events.isHeavy && channel.wanted(events).some((placed) => !events.loaded(placed))
}

async function readMissing(channel: Channel, events: BlockEvents): Promise<void> {
  await events.readKeys(channel.lackingKeys(events))
  const unread = channel.wanted(events).filter((placed) => !events.loaded(placed))
  if (unread.length > 0 && !events.isHeavy) await events.load(unread)
}
