import { FatalError } from '../errors/index.ts'
import type { FeedEntry } from '../feed/index.ts'
import { encodeCursor, viewAfter } from './cursor.ts'
import type { FeedCursor } from './cursor.ts'
import { ForkList } from './resume.ts'
import { oldestCursor, readFeed, readFeedState } from './stored-feed.ts'
import type { FeedQuery, FeedState } from './stored-feed.ts'

/** What a history needs. */
export interface HistoryOptions {
  /** Reads from the database that the filler writes to. */
  readonly query: FeedQuery
  readonly reader: string
  /** Memory for the newest entries. Default 64 MiB. */
  readonly recentBytes?: number
  /** Memory for older entries, which are read from the database. Default 32 MiB. */
  readonly olderBytes?: number
}

/** An entry of the history; `unreadable` when it is stored and cannot be decoded. */
export type HistoryEntry = FeedEntry | 'unreadable'

/** Entries read from the database at once. */
const BATCH = 32n
/** Decoded objects take about twice the memory of their text, which has one byte for a character. */
const BYTES_PER_CHARACTER = 2
const ENTRY_BYTES = 500

interface Item {
  readonly entry: HistoryEntry
  bytes: number
}

type Batch = ReadonlyMap<bigint, HistoryEntry>

/** Items in the order of their insertion, of a limited size. */
class ItemCache {
  readonly #items = new Map<bigint, Item>()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(sequence: bigint): Item | undefined {
    return this.#items.get(sequence)
  }

  /** Puts an item last, whether it was in the cache or not. */
  put(sequence: bigint, item: Item): void {
    this.#remove(sequence)
    this.#items.set(sequence, item)
    this.grow(item.bytes)
  }

  grow(bytes: number): void {
    this.#bytes += bytes
    for (const sequence of this.#items.keys()) {
      if (this.#bytes <= this.#maxBytes || this.#items.size === 1) break
      this.#remove(sequence)
    }
  }

  #remove(sequence: bigint): void {
    this.#bytes -= this.#items.get(sequence)?.bytes ?? 0
    this.#items.delete(sequence)
  }
}

/**
 * The entries of a reader's feed up to the newest one, for any number of clients that resume: the newest are in memory,
 * older ones are read from the database, once for all clients that read them at about the same time.
 */
export class FeedHistory {
  readonly #options: HistoryOptions
  #recent: ItemCache
  #older: ItemCache
  readonly #reading = new Map<bigint, Promise<Batch>>()
  #forks = new ForkList()
  /** Forks after this entry are known. */
  #forksAfter: bigint | undefined
  #epoch: number | undefined
  #newest = 0n

  constructor(options: HistoryOptions) {
    this.#options = options
    this.#recent = this.#createRecent()
    this.#older = this.#createOlder()
  }

  /** Begins at an entry of a feed. */
  begin({ epoch, sequence }: Pick<FeedCursor, 'epoch' | 'sequence'>): void {
    this.#epoch = epoch
    this.#newest = sequence
    this.#forks = new ForkList()
    this.#forksAfter = sequence
    this.#recent = this.#createRecent()
    this.#older = this.#createOlder()
  }

  /** Adds the next entry. @param characters length of its text. */
  append(entry: FeedEntry, characters: number): void {
    const sequence = BigInt(entry.sequence)
    if (entry.epoch !== this.#epoch || sequence !== this.#newest + 1n) {
      // The subscriber has skipped entries: what it names in their place is not what is stored under this number.
      this.begin({ ...entry, sequence })
      return
    }
    this.#newest = sequence
    this.#recent.put(sequence, itemOf(entry, characters))
    if (entry.kind === 'fork') this.#forks.add({ sequence, block: entry.block_num })
  }

  /** An entry that is in memory. */
  peek(sequence: bigint): HistoryEntry | undefined {
    const recent = this.#recent.get(sequence)
    if (recent) return recent.entry
    const older = this.#older.get(sequence)
    if (older) this.#older.put(sequence, older)
    return older?.entry
  }

  /** An entry; undefined when it is not stored. */
  async read(sequence: bigint): Promise<HistoryEntry | undefined> {
    const known = this.peek(sequence)
    if (known !== undefined || sequence <= 0n) return known
    // Clients at about the same position read the same batch. Large entries end it before the one that is wanted.
    const aligned = sequence - (sequence % BATCH)
    for (const first of new Set([aligned, sequence])) {
      const entry = (await this.#batch(first)).get(sequence)
      if (entry !== undefined) return entry
    }
    return undefined
  }

  /** Counts memory that is kept together with an entry. */
  grow(entry: FeedEntry, bytes: number): void {
    const sequence = BigInt(entry.sequence)
    for (const cache of [this.#recent, this.#older]) {
      const item = cache.get(sequence)
      if (item?.entry !== entry) continue
      item.bytes += bytes
      cache.grow(bytes)
    }
  }

  /** The forks of the feed after an entry and before the newest one: read once, unless they are known. */
  async forksAfter(sequence: bigint): Promise<ForkList> {
    if (this.#forksAfter !== undefined && sequence < this.#forksAfter) await this.#readForks()
    return this.#forks
  }

  /**
   * Checks that a cursor is one of this feed. `ahead`: it is, but its entry has not been added to the history yet.
   *
   * @throws FatalError `CURSOR_TOO_OLD` when the position is no longer retained or not of this feed; `details.oldest` is the
   *   text of the oldest cursor that can be used, or null when the reader has no feed.
   */
  async check(cursor: FeedCursor): Promise<'known' | 'ahead'> {
    const isOfFeed = cursor.epoch === this.#epoch && cursor.sequence <= this.#newest
    const entry = isOfFeed ? await this.read(cursor.sequence) : undefined
    if (entry !== undefined && (entry === 'unreadable' || isAfter(cursor, entry))) return 'known'
    const state = await readFeedState(this.#options.query, this.#options.reader)
    if (state && cursor.epoch === state.epoch) {
      // The oldest cursor names no block.
      if (cursor.sequence === state.prunedTo && cursor.seen === null) return 'known'
      if (cursor.sequence > this.#newest && cursor.sequence <= state.sequence) return 'ahead'
    }
    throw this.#tooOld(state)
  }

  /** The error of a position that has been pruned meanwhile. */
  async pruned(): Promise<FatalError> {
    return this.#tooOld(await readFeedState(this.#options.query, this.#options.reader))
  }

  #tooOld(state: FeedState | null): FatalError {
    const { reader } = this.#options
    return new FatalError('CURSOR_TOO_OLD', 'what follows this cursor is no longer retained', {
      details: { oldest: state ? encodeCursor(oldestCursor(reader, state)) : null },
    })
  }

  #batch(first: bigint): Promise<Batch> {
    const running = this.#reading.get(first)
    if (running) return running
    const reading = this.#readBatch(first).finally(() => this.#reading.delete(first))
    this.#reading.set(first, reading)
    return reading
  }

  async #readBatch(first: bigint): Promise<Batch> {
    const { query, reader } = this.#options
    const older = this.#older
    const batch = new Map<bigint, HistoryEntry>()
    for (const row of await readFeed(query, reader, first - 1n, Number(BATCH))) {
      if (row.sequence >= first + BATCH) break
      const item = 'problem' in row ? itemOf('unreadable', 0) : itemOf(row.entry, row.characters)
      batch.set(row.sequence, item.entry)
      older.put(row.sequence, item)
    }
    return batch
  }

  async #readForks(): Promise<void> {
    const { query, reader } = this.#options
    const epoch = this.#epoch
    const rows = await query<{ sequence: bigint; block_num: number }>(
      `SELECT sequence, block_num FROM chain.feed WHERE reader = $1 AND kind = 'fork' ORDER BY sequence`,
      [reader],
    )
    if (epoch !== this.#epoch) return
    const known = rows.filter(({ sequence }) => sequence <= this.#newest)
    this.#forks = new ForkList(known.map(({ sequence, block_num }) => ({ sequence, block: block_num })))
    this.#forksAfter = 0n
  }

  #createRecent(): ItemCache {
    return new ItemCache(this.#options.recentBytes ?? 64 * 1024 * 1024)
  }

  #createOlder(): ItemCache {
    return new ItemCache(this.#options.olderBytes ?? 32 * 1024 * 1024)
  }
}

function itemOf(entry: HistoryEntry, characters: number): Item {
  return { entry, bytes: ENTRY_BYTES + BYTES_PER_CHARACTER * characters }
}

/** Whether a cursor was given out for an entry: in a database that was restored from a backup the same number may be another. */
function isAfter(cursor: FeedCursor, entry: FeedEntry): boolean {
  const view = viewAfter(entry)
  return cursor.seen === null ? cursor.block >= view : cursor.block === view
}
