import { describeError } from '../errors/index.ts'
import type { KeyValueStore, StoreLogger, Unsubscribe } from '../kvstore/index.ts'
import { decodeFeedMessage } from '../feed/index.ts'
import { feedChannel } from '../feed/index.ts'
import type { FeedEntry, FeedGap, FeedLag, FeedMessage } from '../feed/index.ts'
import { readFeed, readFeedState } from './stored-feed.ts'
import type { FeedQuery, FeedState } from './stored-feed.ts'

/** When a subscriber of a feed polls the database; tests use shorter times. */
export interface SubscriberTiming {
  /** Silence of the bus in ms after which the subscriber polls the database. The filler publishes every two seconds. */
  readonly silenceMs: number
  /** Poll interval in ms while the bus is silent. */
  readonly pollMs: number
}

const defaultTiming: SubscriberTiming = { silenceMs: 5_000, pollMs: 1_000 }

/**
 * Maximum number of bus messages in the queue. If the queue is full, further messages are dropped. The subscriber then
 * reads the entries from the database, which stores all entries.
 */
const MAX_WAITING = 256
const MAX_WAITING_CHARACTERS = 16 * 1024 * 1024
/** Number of feed entries to read from the database at once. */
const BATCH = 50
/** Minimum time in ms between log lines about the same kind of problem. */
const WARN_EVERY_MS = 60_000

export interface SubscribeOptions {
  readonly store: KeyValueStore
  /** Runs reads on the primary database, to which the filler writes, not on a replica. */
  readonly query: FeedQuery
  readonly reader: string
  /**
   * Start position: `now` (default) starts after all entries published so far; otherwise the subscription
   * starts after the given entry.
   */
  readonly from?: 'now' | { readonly epoch: number; readonly sequence: bigint }
  readonly logger: StoreLogger
  /**
   * Receives each entry once, in order; the next entry waits until the promise has resolved. A rejection is logged.
   * @param characters length of the entry's text.
   */
  readonly onEntry: (entry: FeedEntry, characters: number) => Promise<void> | void
  /** Receives the progress reports of the reader, which the filler publishes every two seconds. */
  readonly onLag?: (lag: FeedLag) => void
  readonly timing?: Partial<SubscriberTiming>
}

export interface SubscriberStatus {
  /** Epoch of the feed; null before the reader has a feed. */
  readonly epoch: number | null
  /** Sequence of the newest delivered entry. */
  readonly sequence: bigint
  /** Whether the feed entries currently arrive by the bus or are polled from the database. */
  readonly via: 'bus' | 'database'
  /** Last progress report of the filler; null before the first. */
  readonly lag: FeedLag | null
  /** Number of feed entries that the bus supplied. */
  readonly fromBus: number
  /** Number of feed entries that were read from the database. */
  readonly fromDatabase: number
  /** Number of malformed bus messages that were skipped. */
  readonly malformed: number
}

export interface FeedSubscriber {
  status(): SubscriberStatus
  /** Ends the subscription; resolves after the current `onEntry` has finished. Never rejects. */
  close(): Promise<void>
}

/**
 * Subscribes to a reader's feed without losing an entry. Takes entries from the bus while the sequence numbers are
 * consecutive. Reads entries from the database in four cases: at the start, after a lost message, for an entry that is
 * too long for the bus, and while the bus is silent. An entry of kind `gap` replaces entries that are pruned or belong
 * to another feed. Resolves when the start position is known, or at once if the database does not answer; the position
 * is then determined as soon as the database answers.
 */
export async function subscribeToFeed(options: SubscribeOptions): Promise<FeedSubscriber> {
  const subscriber = new Subscriber(options)
  await subscriber.start()
  return subscriber
}

class Subscriber implements FeedSubscriber {
  readonly #options: SubscribeOptions
  readonly #timing: SubscriberTiming
  readonly #waiting: { readonly message: FeedMessage; readonly characters: number }[] = []
  #waitingCharacters = 0
  #unsubscribe: Unsubscribe = () => Promise.resolve()
  #timer: NodeJS.Timeout | null = null
  #epoch: number | null = null
  #sequence = 0n
  #started = false
  #closed = false
  /** Whether the next feed entries must be read from the database, because the bus may have lost entries. */
  #isBehind = true
  #isBusSilent = true
  #heardAtMs = 0
  #lag: FeedLag | null = null
  readonly #counts = { fromBus: 0, fromDatabase: 0, malformed: 0 }
  readonly #warnedAtMs = new Map<string, number>()
  #running: Promise<void> | null = null

  constructor(options: SubscribeOptions) {
    this.#options = options
    this.#timing = { ...defaultTiming, ...options.timing }
    const { from = 'now' } = options
    if (from === 'now') return
    this.#epoch = from.epoch
    this.#sequence = from.sequence
    this.#started = true
  }

  /**
   * Subscribes to the bus, then reads the position of the feed. Messages that arrive during the read wait in the queue.
   */
  async start(): Promise<void> {
    const { store, reader } = this.#options
    this.#unsubscribe = await store
      .subscribe(feedChannel(reader), (text) => this.#receive(text))
      .catch(() => this.#unsubscribe)
    if (!this.#started) await this.#standAtNewest()
    this.#timer = setInterval(() => this.#look(), this.#timing.pollMs)
    this.#timer.unref()
    this.#wake()
  }

  status(): SubscriberStatus {
    const epoch = this.#epoch
    const sequence = this.#sequence
    const lag = this.#lag
    return { epoch, sequence, via: this.#isBusSilent ? 'database' : 'bus', lag, ...this.#counts }
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer) clearInterval(this.#timer)
    await this.#unsubscribe().catch(() => undefined)
    await this.#running
  }

  #hasEnded(): boolean {
    return this.#closed
  }

  async #standAtNewest(): Promise<void> {
    try {
      const state = await readFeedState(this.#options.query, this.#options.reader)
      if (state) ({ epoch: this.#epoch, sequence: this.#sequence } = state)
      this.#started = true
      this.#isBehind = false
    } catch (error) {
      this.#warn('the feed cannot be read', error)
    }
  }

  #receive(text: string): void {
    if (this.#hasEnded()) return
    this.#heardAtMs = performance.now()
    this.#isBusSilent = false
    try {
      const message = decodeFeedMessage(text)
      if (message.kind === 'lag') {
        this.#lag = message
        this.#options.onLag?.(message)
      }
      this.#enqueue(message, text.length)
    } catch (error) {
      this.#counts.malformed++
      this.#isBehind = true
      this.#warn(
        'a malformed message of the feed was skipped; the entry is read from the database instead',
        error,
      )
    }
    this.#wake()
  }

  #enqueue(message: FeedMessage, characters: number): void {
    const isFull = this.#waiting.length >= MAX_WAITING || this.#waitingCharacters >= MAX_WAITING_CHARACTERS
    if (isFull) this.#isBehind = true
    else {
      this.#waiting.push({ message, characters })
      this.#waitingCharacters += characters
    }
  }

  /** While the bus is silent, messages may have been lost, so the entries are read from the database. */
  #look(): void {
    if (performance.now() - this.#heardAtMs >= this.#timing.silenceMs) this.#isBusSilent = true
    if (this.#isBusSilent) this.#isBehind = true
    this.#wake()
  }

  #wake(): void {
    this.#running ??= this.#work().finally(() => {
      this.#running = null
      if (this.#waiting.length > 0 && !this.#closed) this.#wake()
    })
  }

  async #work(): Promise<void> {
    if (!this.#started) await this.#standAtNewest()
    if (!this.#started) return
    for (;;) {
      if (this.#isBehind) {
        if (!(await this.#catchUp())) return
        continue
      }
      const next = this.#waiting.shift()
      if (next === undefined || this.#hasEnded()) return
      this.#waitingCharacters -= next.characters
      await this.#take(next.message, next.characters)
    }
  }

  async #take(message: FeedMessage, characters: number): Promise<void> {
    const sequence = BigInt(message.sequence)
    const isSameFeed = message.epoch === this.#epoch
    if (isSameFeed && sequence <= this.#sequence) return
    if (message.kind === 'lag' && message.epoch === 0) return
    if (
      isSameFeed &&
      sequence === this.#sequence + 1n &&
      message.kind !== 'lag' &&
      message.kind !== 'stored'
    ) {
      this.#counts.fromBus++
      await this.#deliver(message, sequence, characters)
    } else this.#isBehind = true
  }

  /** Reads and delivers all stored entries after the current position; false if the database did not answer. */
  async #catchUp(): Promise<boolean> {
    // Reset the flag before the read: a bus message that is dropped during the read sets the flag again.
    this.#isBehind = false
    try {
      const state = await readFeedState(this.#options.query, this.#options.reader)
      if (!state) return true
      await this.#align(state)
      while ((await this.#readOn()) > 0);
      return true
    } catch (error) {
      this.#isBehind = true
      this.#warn('the feed cannot be read', error)
      return false
    }
  }

  /** Reads the next feed entries from the database and delivers them; returns the number of entries. */
  async #readOn(): Promise<number> {
    const { query, reader } = this.#options
    if (this.#hasEnded()) return 0
    const rows = await readFeed(query, reader, this.#sequence, BATCH)
    for (const row of rows) {
      if (this.#hasEnded()) return 0
      if ('problem' in row) {
        this.#sequence = row.sequence
        this.#warn('an entry of the feed cannot be read and is left out', row.problem)
      } else {
        this.#counts.fromDatabase++
        await this.#deliver(row.entry, row.sequence, row.characters)
      }
    }
    return rows.length
  }

  /** Switches to the reader's current feed, and skips pruned entries by delivering a gap. */
  async #align(state: FeedState): Promise<void> {
    const isNew = this.#epoch === null
    const isOther = !isNew && (this.#epoch !== state.epoch || this.#sequence > state.sequence)
    const isPruned = !isOther && this.#sequence < state.prunedTo
    if (isNew || isOther) this.#epoch = state.epoch
    if (!isOther && !isPruned) return
    const sequence = isOther ? state.sequence : state.prunedTo
    const gap: FeedGap = {
      kind: 'gap',
      reader: this.#options.reader,
      epoch: state.epoch,
      sequence: String(sequence),
      from_block: null,
      to_block: isPruned ? await this.#lastBlockBefore(state) : state.toldTo,
    }
    await this.#deliver(gap, sequence, 0)
  }

  /** Last block of the gap, which ends before the events of the oldest stored entry. */
  async #lastBlockBefore({ prunedTo, toldTo }: FeedState): Promise<number> {
    const [oldest] = await this.#options.query<{ kind: string; block_num: number }>(
      'SELECT kind, block_num FROM chain.feed WHERE reader = $1 AND sequence > $2 ORDER BY sequence LIMIT 1',
      [this.#options.reader, prunedTo],
    )
    if (!oldest) return toldTo
    // If the oldest entry is a fork, the gap includes the first block that the fork undoes: this block was published
    // before the fork, so the entry with its events may be pruned.
    return oldest.kind === 'block' ? oldest.block_num - 1 : oldest.block_num
  }

  async #deliver(entry: FeedEntry, sequence: bigint, characters: number): Promise<void> {
    this.#sequence = sequence
    try {
      await this.#options.onEntry(entry, characters)
    } catch (error) {
      this.#warn('an entry of the feed could not be handled', error)
    }
  }

  #warn(message: string, error: unknown): void {
    const now = performance.now()
    const last = this.#warnedAtMs.get(message)
    if (last !== undefined && now - last < WARN_EVERY_MS) return
    this.#warnedAtMs.set(message, now)
    this.#options.logger.warn({ reader: this.#options.reader, cause: describeError(error) }, message)
  }
}
