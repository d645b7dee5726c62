import { LRUCache } from 'lru-cache'
import type { Answer } from './answer.ts'

/** A cached answer with its route. */
export interface CachedAnswer {
  readonly answer: Answer
  /** Route pattern and namespace of the request, for metrics. */
  readonly route: string
  readonly namespace: string
}

interface Entry extends CachedAnswer {
  readonly key: string
  /** URLs, as clients sent them, by which the cached answer is found. */
  readonly addresses: string[]
  bytes: number
}

/** Estimated memory of a cached answer without its key and body, bytes. */
const ENTRY_BYTES = 400
/** Estimated memory of one URL of a cached answer without the URL's text, bytes. */
const ADDRESS_BYTES = 150
/** Maximum number of URLs that are stored for one answer. */
const MAX_ADDRESSES = 16
/** Longest URL that is stored, in characters. The answer of a longer URL is found by key. */
const MAX_ADDRESS_LENGTH = 2_048

/** LRU cache of answers in this process's memory, by key and, faster, by exact URL. Limited in bytes. */
export class AnswerMemory {
  readonly #entries: LRUCache<string, Entry>
  readonly #byAddress = new Map<string, Entry>()

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: (entry) => {
        for (const address of entry.addresses) {
          if (this.#byAddress.get(address) === entry) this.#byAddress.delete(address)
        }
      },
    })
  }

  /** Estimated memory in use, bytes. */
  get bytes(): number {
    return this.#entries.calculatedSize
  }

  /** Returns the cached answer of this exact URL; equivalent URLs are found by key. */
  findByAddress(address: string): CachedAnswer | undefined {
    const entry = this.#byAddress.get(address)
    return entry && this.#entries.get(entry.key)
  }

  /** Finds the cached answer of a key, and stores `address` as a further URL of the answer. */
  find(key: string, address: string | undefined): CachedAnswer | undefined {
    const entry = this.#entries.get(key)
    if (entry && address !== undefined) this.#remember(entry, address)
    return entry
  }

  /** Caches an answer for `lifeMs`. */
  store(key: string, cached: CachedAnswer, lifeMs: number): void {
    const bytes = cached.answer.bytes.length + 2 * key.length + ENTRY_BYTES
    const entry: Entry = { ...cached, key, addresses: [], bytes }
    this.#entries.set(key, entry, { ttl: Math.max(1, Math.floor(lifeMs)) })
    cached.answer.onGrowth = (more) => {
      this.#grow(entry, more)
    }
  }

  /** Drops all cached answers. */
  clear(): void {
    this.#entries.clear()
    this.#byAddress.clear()
  }

  #remember(entry: Entry, address: string): void {
    if (address.length > MAX_ADDRESS_LENGTH || entry.addresses.length >= MAX_ADDRESSES) return
    if (this.#byAddress.get(address) === entry) return
    entry.addresses.push(address)
    this.#byAddress.set(address, entry)
    this.#grow(entry, 2 * address.length + ADDRESS_BYTES)
  }

  #grow(entry: Entry, bytes: number): void {
    if (this.#entries.peek(entry.key) !== entry) return
    entry.bytes += bytes
    this.#entries.set(entry.key, entry, { noUpdateTTL: true })
  }
}
