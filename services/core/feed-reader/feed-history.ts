import { FatalError } from '../errors/index.ts'
import type { FeedEntry } from '../feed/index.ts'
import { encodeCursor, viewAfter } from './cursor.ts'
import type { FeedCursor } from './cursor.ts'
import { ForkList } from './resume.ts'
import { oldestCursor, readFeed, readFeedState } from './stored-feed.ts'
import type { FeedQuery, FeedState } from './stored-feed.ts'

export interface HistoryOptions {
  /** Reads from the primary database, to which the filler writes. */
  readonly query: FeedQuery
  readonly reader: string
  /** Memory in bytes for the newest entries; default 64 MiB. */
  readonly recentBytes?: number
  /** Memory in bytes for older entries that were read from the database; default 32 MiB. */
  readonly olderBytes?: number
}

/** An entry of a feed; `unreadable` if the stored entry cannot be decoded. */
export type HistoryEntry = FeedEntry | 'unreadable'

/** Number of feed entries to read from the database at once. */
const BATCH = 32n
/**
 * Estimated memory per character of an entry's text. The text has one byte per character, and decoded objects
 * take about twice as much.
 */
const BYTES_PER_CHARACTER = 2
const ENTRY_BYTES = 500

interface Item {
  readonly entry: HistoryEntry
  bytes: number
}

type Batch = ReadonlyMap<bigint, HistoryEntry>

/** A cache with a memory limit; evicts items in insertion order. */
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

  /** Inserts an item, or moves it to the end. */
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
 * Serves the entries of a reader's feed to any number of resuming clients. The newest entries are in memory; older
 * entries are read from the database, once for all clients that request the entries at about the same time.
 */
export class FeedHistory {
  readonly #options: HistoryOptions
  #recent: ItemCache
  #older: ItemCache
  readonly #reading = new Map<bigint, Promise<Batch>>()
  #forks = new ForkList()
  /** Sequence number of a feed entry: `#forks` contains every fork of the feed that follows this entry. */
  #forksAfter: bigint | undefined
  #epoch: number | undefined
  #newest = 0n

  constructor(options: HistoryOptions) {
    this.#options = options
    this.#recent = this.#createRecent()
    this.#older = this.#createOlder()
  }

  /** Drops all entries in memory and begins after an entry of a feed. */
  begin({ epoch, sequence }: Pick<FeedCursor, 'epoch' | 'sequence'>): void {
    this.#epoch = epoch
    this.#newest = sequence
    this.#forks = new ForkList()
    this.#forksAfter = sequence
    this.#recent = this.#createRecent()
    this.#older = this.#createOlder()
  }

  /**
   * Appends the next entry.
   * @param characters length of the entry's text.
   */
  append(entry: FeedEntry, characters: number): void {
    const sequence = BigInt(entry.sequence)
    if (entry.epoch !== this.#epoch || sequence !== this.#newest + 1n) {
      // The new entry does not continue the entries in memory: it is a gap entry that the subscriber created in place
      // of entries that it skips. The database has another entry under the gap's sequence number. Drop all entries in
      // memory, and begin after the gap.
      this.begin({ ...entry, sequence })
      return
    }
    this.#newest = sequence
    this.#recent.put(sequence, itemOf(entry, characters))
    if (entry.kind === 'fork') this.#forks.add({ sequence, block: entry.block_num })
  }

  /** Returns the feed entry with a sequence number if the entry is in memory. */
  peek(sequence: bigint): HistoryEntry | undefined {
    const recent = this.#recent.get(sequence)
    if (recent) return recent.entry
    const older = this.#older.get(sequence)
    if (older) this.#older.put(sequence, older)
    return older?.entry
  }

  /** Returns the feed entry with a sequence number, from memory or the database; undefined if it is not stored. */
  async read(sequence: bigint): Promise<HistoryEntry | undefined> {
    const known = this.peek(sequence)
    if (known !== undefined || sequence <= 0n) return known
    // Batches start at multiples of BATCH, so that clients at about the same position share a read. A batch of large
    // entries may end before the wanted entry; the second read then starts at the wanted entry.
    const aligned = sequence - (sequence % BATCH)
    for (const first of new Set([aligned, sequence])) {
      const entry = (await this.#batch(first)).get(sequence)
      if (entry !== undefined) return entry
    }
    return undefined
  }

  /** Adds `bytes` to the size of a cached entry: the caller caches events with the entry until the entry is evicted. */
  grow(entry: FeedEntry, bytes: number): void {
    const sequence = BigInt(entry.sequence)
    for (const cache of [this.#recent, this.#older]) {
      const item = cache.get(sequence)
      if (item?.entry !== entry) continue
      item.bytes += bytes
      cache.grow(bytes)
    }
  }

  /** Returns the forks after an entry, from memory or by one read of the database. */
  async forksAfter(sequence: bigint): Promise<ForkList> {
    if (this.#forksAfter !== undefined && sequence < this.#forksAfter) await this.#readForks()
    return this.#forks
  }

  /**
   * Checks that a cursor belongs to this feed. `ahead`: the cursor is valid, but this process has not received the
   * entry of the cursor yet.
   *
   * @throws FatalError `CURSOR_TOO_OLD` if the position is pruned or belongs to another feed; `details.oldest` is the
   * oldest usable cursor, or null if the reader has no feed.
   */
  async check(cursor: FeedCursor): Promise<'known' | 'ahead'> {
    const isOfFeed = cursor.epoch === this.#epoch && cursor.sequence <= this.#newest
    const entry = isOfFeed ? await this.read(cursor.sequence) : undefined
    if (entry !== undefined && (entry === 'unreadable' || isAfter(cursor, entry))) return 'known'
    const state = await readFeedState(this.#options.query, this.#options.reader)
    if (state && cursor.epoch === state.epoch) {
      // The cursor before the oldest stored entry is valid, although no entry is stored at its position.
      if (cursor.sequence === state.prunedTo && cursor.seen === null) return 'known'
      if (cursor.sequence > this.#newest && cursor.sequence <= state.sequence) return 'ahead'
    }
    throw this.#tooOld(state)
  }

  /** Error for a position that was pruned while a client used the position. */
  async pruned(): Promise<FatalError> {
    return this.#tooOld(await readFeedState(this.#options.query, this.#options.reader))
  }

  #tooOld(state: FeedState | null): FatalError {
    const { reader } = this.#options
    return new FatalError('CURSOR_TOO_OLD', 'the events after this cursor are no longer stored', {
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

/** Whether a cursor was issued for this entry: after a restore from backup, another entry may have the same number. */
function isAfter(cursor: FeedCursor, entry: FeedEntry): boolean {
  const view = viewAfter(entry)
  return cursor.seen === null ? cursor.block >= view : cursor.block === view
}
