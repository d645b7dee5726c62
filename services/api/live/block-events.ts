import { eventOfAction } from '../../core/live/index.ts'
import type { FeedBlock } from '../../core/feed/index.ts'
import type { Subscription } from './client.ts'
import { fits } from './filter.ts'
import { needsKeys } from './filter-index.ts'
import type { SharedFilter } from './filter-index.ts'
import { createLiveEvent, recordKey } from './live-event.ts'
import type { LiveEvent, PlacedEvent } from './live-event.ts'
import type { Format } from './outgoing.ts'
import type { EventRecords } from './records.ts'
import { forEachYielding } from '../../core/http/index.ts'

/**
 * Limits of a chunk of events: the number of events, and the approximate bytes of their records. A larger chunk needs
 * more memory, a smaller one more queries.
 */
const CHUNK_EVENTS = 100
export const CHUNK_BYTES = 2 * 1024 * 1024
/**
 * Maximum size of the records of a block in memory, bytes. The events of a larger block, a heavy block, are sent chunk
 * by chunk.
 */
export const HEAVY_BYTES = 4 * 1024 * 1024
/**
 * A batch consists of the same bytes for many clients. A batch of at most BATCH_BYTES is cached, up to MAX_BATCHES
 * batches for each block.
 */
const BATCH_BYTES = 256 * 1024
const MAX_BATCHES = 32
/**
 * Memory of one message, as a multiple of the size of its record. A message is stored as text, and as bytes in one or
 * two formats.
 */
const COPIES = 4

/** Encoded messages, ready to be written to any number of clients. */
export interface Batch {
  readonly bytes: Buffer
  /** Number of messages that `bytes` contains. */
  readonly count: number
}

type Filters = readonly SharedFilter<Subscription>[]

/**
 * Events of one block that a namespace publishes. Filter keys and records are read on demand, once for all clients,
 * both live and resuming.
 */
export class BlockEvents {
  readonly block: FeedBlock
  readonly placed: readonly PlacedEvent[]
  readonly #records: EventRecords
  /** Adds a number of bytes, which may be negative, to the memory that the feed history counts for this block. */
  readonly #grow: (bytes: number) => void
  readonly #sizes = new Map<string, number>()
  readonly #loaded = new Map<PlacedEvent, LiveEvent>()
  readonly #loading = new Map<PlacedEvent, Promise<void>>()
  #loadedBytes = 0
  #isHeavy = false
  readonly #hits = new WeakMap<SharedFilter<Subscription>, readonly PlacedEvent[]>()
  readonly #batches = new Map<string, Batch>()
  #readingKeys: Promise<void> = Promise.resolve()

  constructor(
    block: FeedBlock,
    of: { readonly family: string; readonly contract: string },
    records: EventRecords,
    grow: (bytes: number) => void,
  ) {
    this.block = block
    this.placed = placeEvents(block, of)
    this.#records = records
    this.#grow = grow
  }

  /** Whether the records of the block are too large to stay in memory together. */
  get isHeavy(): boolean {
    return this.#isHeavy
  }

  /** Reads from the database the filter keys of the events whose keys have not been read yet. */
  async readKeys(events: readonly PlacedEvent[]): Promise<void> {
    for (;;) {
      await this.#readingKeys
      const missing = events.filter(({ keys }) => keys === undefined)
      if (missing.length === 0) return
      const reading = this.#records.readKeys(missing, this.#sizes)
      this.#readingKeys = reading.catch(() => undefined)
      await reading
    }
  }

  /**
   * Reads from the database the filter keys of the events that the filters cannot accept or reject by event name alone.
   * Returns undefined if these keys have already been read.
   */
  readKeysFor(filters: Filters): Promise<void> | undefined {
    const lacking = this.placed.filter(
      ({ keys, name }) =>
        keys === undefined &&
        filters.some(({ filter }) => needsKeys(filter) && (filter.events?.has(name) ?? true)),
    )
    return lacking.length === 0 ? undefined : this.readKeys(lacking)
  }

  /**
   * Returns the events that match a filter. Call `readKeysFor` first: an event without filter keys is compared by event
   * name only.
   */
  hits(shared: SharedFilter<Subscription>): readonly PlacedEvent[] {
    const known = this.#hits.get(shared)
    if (known) return known
    const { filter } = shared
    const found = this.placed.filter(({ name, keys }) =>
      keys === undefined ? (filter.events?.has(name) ?? true) : fits(filter, { name, keys }),
    )
    this.#hits.set(shared, found)
    return found
  }

  /** Events that match at least one of the filters, in block order. */
  hitsOfAny(filters: Filters): readonly PlacedEvent[] {
    if (filters.length === 1) return this.hits(filters[0]!)
    const found = new Set(filters.flatMap((shared) => this.hits(shared)))
    return this.placed.filter((placed) => found.has(placed))
  }

  /** Returns an event with its record, if the record is in memory. */
  loaded(placed: PlacedEvent): LiveEvent | undefined {
    return this.#loaded.get(placed)
  }

  /**
   * Reads the records of the first events: as many as fit into one chunk, at least one.
   * @returns the events of the chunk with their records, in order.
   */
  async load(events: readonly PlacedEvent[]): Promise<LiveEvent[]> {
    const chunk = await this.#chunkOf(events)
    // A concurrent call of `load` may drop records of a heavy block from memory: repeat until all records of the chunk
    // are in memory.
    for (;;) {
      const missing = chunk.filter((placed) => !this.#loaded.has(placed))
      if (missing.length === 0) return chunk.map((placed) => this.#loaded.get(placed)!)
      await Promise.all(missing.flatMap((placed) => this.#loading.get(placed) ?? []))
      const unread = missing.filter((placed) => !this.#loaded.has(placed) && !this.#loading.has(placed))
      if (unread.length > 0) await this.#read(unread, chunk)
    }
  }

  /**
   * Encodes the messages of all events that match the filters. Returns undefined if a record is not in memory, or if
   * the messages exceed BATCH_BYTES.
   */
  async batch(format: Format, filters: Filters): Promise<Batch | undefined> {
    const key = `${format} ${filters
      .map(({ serial }) => serial)
      .sort((a, b) => a - b)
      .join()}`
    const known = this.#batches.get(key)
    if (known) return known
    const parts: Buffer[] = []
    const total = { bytes: 0 }
    await forEachYielding(this.hitsOfAny(filters), (placed) => {
      if (total.bytes > BATCH_BYTES) return
      const part = this.#loaded.get(placed)?.message.bytes(format)
      if (part) parts.push(part)
      total.bytes += part?.length ?? Infinity
    })
    if (total.bytes > BATCH_BYTES) return undefined
    const batch = { bytes: parts.length === 1 ? parts[0]! : Buffer.concat(parts), count: parts.length }
    if (this.#batches.size < MAX_BATCHES) {
      this.#batches.set(key, batch)
      if (parts.length > 1) this.#grow(batch.bytes.length)
    }
    return batch
  }

  /** Selects the first events whose records fit into one chunk. */
  async #chunkOf(events: readonly PlacedEvent[]): Promise<readonly PlacedEvent[]> {
    const first = events.slice(0, CHUNK_EVENTS)
    await this.readKeys(first)
    let bytes = 0
    const end = first.findIndex(({ entry, event }, at) => {
      bytes += this.#sizes.get(`${entry.entity} ${recordKey(entry, event)}`) ?? 0
      return at > 0 && bytes > CHUNK_BYTES
    })
    return end === -1 ? first : first.slice(0, end)
  }

  async #read(events: readonly PlacedEvent[], chunk: readonly PlacedEvent[]): Promise<void> {
    const reading = this.#records.read(events, this.#sizes)
    const done = reading.then(
      () => undefined,
      () => undefined,
    )
    for (const placed of events) this.#loading.set(placed, done)
    try {
      const records = await reading
      if (this.#loadedBytes > HEAVY_BYTES) this.#forgetOthers(chunk)
      for (const placed of events) {
        const record = records.get(placed) ?? {}
        const bytes = record.text?.length ?? 0
        this.#loaded.set(placed, createLiveEvent(this.block, placed, record))
        this.#loadedBytes += bytes
        this.#grow(COPIES * bytes)
      }
      if (this.#loadedBytes > HEAVY_BYTES) this.#isHeavy = true
    } finally {
      for (const placed of events) this.#loading.delete(placed)
    }
  }

  #forgetOthers(chunk: readonly PlacedEvent[]): void {
    const keep = new Set(chunk)
    for (const [placed, { record }] of this.#loaded) {
      if (keep.has(placed)) continue
      const bytes = record.text?.length ?? 0
      this.#loaded.delete(placed)
      this.#loadedBytes -= bytes
      this.#grow(-COPIES * bytes)
    }
  }
}

/** Selects the events of a block that a namespace publishes, by contract family and account. */
function placeEvents(
  block: FeedBlock,
  { family, contract }: { readonly family: string; readonly contract: string },
): PlacedEvent[] {
  return block.events.flatMap((event, index) => {
    if (event.family !== family || event.contract !== contract) return []
    const action = block.transactions[event.transaction]?.traces[event.trace]?.name ?? ''
    const entry = eventOfAction(family, action)
    return entry ? [{ index, event, entry, name: entry.event, keys: undefined }] : []
  })
}
